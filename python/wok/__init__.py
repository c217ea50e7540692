from ._wok import jit, disable, stats, reset, BreakError
