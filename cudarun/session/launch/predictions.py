"""``launch --for``: the launches of a program on GPUs of other kinds, by their limits."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from cudarun.model.launch import KernelLaunch, LaunchResult
from cudarun.session.compile.parent import compile_here
from cudarun.session.launch.request import Program
from cudarun.session.load.prediction import predict
from cudarun.session.load.request import LaunchShape, OfflineScope


def with_predictions(result: LaunchResult, program: Program) -> LaunchResult:
    """Return a result with the predictions of its steps; those that fail are errors of it."""
    launches: tuple[KernelLaunch, ...] = result.steps or (result,)
    predictions = tuple(
        prediction
        for step, launch in zip(program.steps[-len(launches) :], launches, strict=True)
        if step.gpus
        for prediction in predict(
            step.image,
            OfflineScope(
                launch.kernel,
                gpus=step.gpus,
                shape=LaunchShape(
                    launch.block,
                    launch.shared_bytes,
                    launch.cluster,
                    prod(launch.grid) if launch.cooperative else 0,
                ),
            ),
            compile_here,
        )
    )
    errors = (each.error for each in predictions if each.error is not None)
    return replace(result, predictions=predictions, errors=(*result.errors, *errors))
