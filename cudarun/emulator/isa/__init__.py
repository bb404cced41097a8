"""The instruction set, as tables of forms: see ``cudarun.emulator.isa.form`` for the notation."""
