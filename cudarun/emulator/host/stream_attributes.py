"""Attributes of streams: driver API, section 6.18. The emulated device only keeps them."""

from __future__ import annotations

from cuda.bindings import driver as cuda

from cudarun.emulator.host.contexts import STREAM_PRIORITIES, Context
from cudarun.emulator.host.refusal import enum_field, refuse_if

PRIORITY = 8
_MEMBERS = {  # the member of the value that has each `CUlaunchAttributeID` of streams
    1: "accessPolicyWindow",
    3: "syncPolicy",
    PRIORITY: "priority",
    9: "memSyncDomainMap",
    10: "memSyncDomain",
}
_DOMAINS = 4  # the most of a device (programming guide, "Memory Synchronization Domains")
_MOST_BYTES = cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE


def default_attributes(priority: int) -> dict[int, cuda.CUstreamAttrValue]:
    """Return the values of the attributes of a new stream."""
    values = {attribute: cuda.CUstreamAttrValue() for attribute in _MEMBERS}
    values[3].syncPolicy = cuda.CUsynchronizationPolicy.CU_SYNC_POLICY_AUTO
    values[PRIORITY].priority = priority
    values[9].memSyncDomainMap.remote = 1
    return values


def copied_attribute(attribute: int, value: object, context: Context) -> cuda.CUstreamAttrValue:
    """Return a copy of the value of an attribute; `Refusal` if no stream can have it."""
    made, member = cuda.CUstreamAttrValue(), _MEMBERS.get(attribute, "")
    refuse_if(not member, f"{attribute} is not an attribute of streams")
    setattr(made, member, enum_field(value, member))
    is_valid = True
    if member == "accessPolicyWindow":
        window, most = made.accessPolicyWindow, context.device.attribute(_MOST_BYTES)
        is_valid = window.num_bytes <= most and 0 <= window.hitRatio <= 1
        _, miss = (enum_field(window, each) for each in ("hitProp", "missProp"))
        is_valid &= miss != cuda.CUaccessProperty.CU_ACCESS_PROPERTY_PERSISTING
    elif member == "priority":  # the nearest one, as on an H200
        lowest, highest = STREAM_PRIORITIES
        made.priority = min(max(made.priority, highest), lowest)
    elif member == "memSyncDomainMap":
        is_valid = max(made.memSyncDomainMap.default_, made.memSyncDomainMap.remote) < _DOMAINS
    refuse_if(not is_valid, f"a stream cannot have this {member}")
    return made
