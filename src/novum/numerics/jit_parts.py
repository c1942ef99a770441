"""How kernels are compiled: inner ones wait as parts for the entry that Python calls.

Numba optimizes every function and makes machine code of it, also of one that only compiled code
calls, and optimizes that one again with each caller above it. A chain of small kernels is compiled
as often as it is deep. Here an inner kernel is left as it was lowered, and an entry takes in all
that it reaches and is optimized with it once:

    machine code(entry) = optimize(own code, code of every part reachable from it)

Parts live in memory and are lowered anew when an entry is not on disk, so the machine code of an
entry depends on the sources alone. An entry of little but integers and branches may do without
vectors: it compiles sooner. One of short loops takes vectors one by one.

This module imports Numba and uses its compiler pipeline: it is imported when a kernel is defined.
Where a later Numba lacks something that is used, the import fails and says what.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import BuiltinFunctionType
from typing import Any, ClassVar, cast

from llvmlite.binding import create_pass_builder, create_pipeline_tuning_options
from numba.core import config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.cpu import CPUTargetOptions
from numba.core.dispatcher import Dispatcher
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target
from numba.core.typed_passes import NativeLowering
from numba.core.types import Function, unliteral

# --- Code -----------------------------------------------------------------------------------------


class PartLibrary(JITCodeLibrary):
    """Code of an inner kernel: neither optimized nor callable, to be linked into entries."""

    def finalize(self) -> None:
        self._finalized = True

    def reachable(self) -> Iterator[JITCodeLibrary]:
        """This code and all that it calls."""
        yield self
        for library in self._linking_libraries:
            if isinstance(library, PartLibrary):
                yield from library.reachable()
            else:
                yield library

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class EntryLibrary(JITCodeLibrary):
    """Code of a kernel that Python calls, with the parts it reaches."""

    def add_linking_library(self, library: Any) -> None:
        libraries = library.reachable() if isinstance(library, PartLibrary) else (library,)
        for part in libraries:
            if part not in self._linking_libraries:
                super().add_linking_library(part)


class ScalarLibrary(EntryLibrary):
    """An entry whose loops are not turned into vectors."""

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager(
            loop_vectorize=False, slp_vectorize=False
        )
        passes.run(self._final_module, builder)


class ShortLoopLibrary(EntryLibrary):
    """An entry of short loops, which takes one vector at a time.

    LLVM would take several, and a loop of a few dozen cells would be left to the scalar rest.
    """

    def _optimize_final_module(self) -> None:
        chosen = cast(Any, config)
        tuning = create_pipeline_tuning_options()
        tuning.speed_level = chosen.OPT
        tuning.loop_vectorization = bool(chosen.LOOP_VECTORIZE)
        tuning.slp_vectorization = bool(chosen.SLP_VECTORIZE)
        tuning.loop_interleaving = False
        builder = create_pass_builder(self._codegen._tm, tuning)
        builder.getModulePassManager().run(self._final_module, builder)


# --- Lowering -------------------------------------------------------------------------------------


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):
    """Lowers an inner kernel and stops before machine code."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        flags = state.flags
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        super().run_pass(state)
        # Callers find the part by this handle, where others have a function.
        handle = object()
        lowered = state["cr"]
        state.targetctx.insert_user_function(handle, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=handle)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class EntryLowering(NativeLowering):
    """Lowers an entry, links its parts and makes machine code."""

    _name = "entry_lowering"

    def run_pass(self, state: Any) -> bool:
        kind = state.pipeline.library
        state.library = kind(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        super().run_pass(state)
        for variable in state.library._final_module.global_variables:
            # Parts have had no machine code that their environments could be told to.
            environment = lookup_environment(variable.name)
            if environment is not None:
                state.library.codegen.set_env(variable.name, environment)
        return True


# --- Pipelines ------------------------------------------------------------------------------------


class QuickFlags(Flags):
    """Flags compared by those that are set: Numba compares them for each operation of a kernel."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Flags):
            return NotImplemented
        named = self._values.keys() | other._values.keys()
        return all(getattr(self, name) == getattr(other, name) for name in named)

    def __hash__(self) -> int:
        return _flags_hash()


@cache
def _flags_hash() -> int:
    # Numba hashes the names of all options, which are the same for all flags.
    return hash(Flags())


class RememberedTypes:
    """A typing context that asks Numba once what an operator makes of its operands.

    Numba tries dozens of rules for each `+` and each cell of an array that it meets.
    """

    # By flags, because what an operator is lowered to depends on them.
    _signatures: ClassVar[dict[Flags, dict[Any, Any]]] = {}

    def __init__(self, context: Any, flags: Flags) -> None:
        self._context = context
        self._known = self._signatures.setdefault(flags.copy(), {})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, arguments: Any, keywords: Any) -> Any:
        if keywords or not isinstance(function, Function | BuiltinFunctionType):
            return self._context.resolve_function_type(function, arguments, keywords)
        question = (function, arguments)
        signature = self._known.get(question)
        if signature is None:
            signature = self._context.resolve_function_type(function, arguments, keywords)
            self._known[question] = signature
        return signature


class EntryCompiler(Compiler):
    """Numba's pipeline with our lowering."""

    lowering: type[NativeLowering] = EntryLowering
    library: type[JITCodeLibrary] = EntryLibrary

    def compile_extra(self, func: Any) -> Any:
        self.state.flags = QuickFlags(self.state.flags)
        self.state.typingctx = RememberedTypes(self.state.typingctx, self.state.flags)
        with collector_paused():
            return super().compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        [manager] = super().define_pipelines()
        manager.passes = [
            (self.lowering if step is NativeLowering else step, text)
            for step, text in manager.passes
        ]
        manager.finalize()
        return [manager]


class ScalarCompiler(EntryCompiler):
    library = ScalarLibrary


class ShortLoopCompiler(EntryCompiler):
    library = ShortLoopLibrary


class PartCompiler(EntryCompiler):
    lowering = PartLowering


@contextmanager
def collector_paused() -> Iterator[None]:
    """Compilation makes many objects and no garbage worth looking for."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def call_as_part(dispatcher: Any, make_part: Callable[[], Any]) -> None:
    """Lets kernels that call `dispatcher` take in a part; what Python calls stays an entry.

    `make_part` gives another dispatcher of the same function, compiled by `PartCompiler`.
    """

    @cache
    def part() -> Any:
        made = make_part()

        def keep(compiled: Any) -> None:
            made.overloads[tuple(compiled.signature.args)] = compiled

        made.add_overload = keep
        return made

    def get_call_template(arguments: Any, keywords: Any) -> Any:
        # Numba would compile anew for each constant of a call. LLVM sees them anyway.
        values = [unliteral(argument) for argument in arguments]
        return part().get_call_template(values, keywords)

    def get_overload(signature: Any) -> Any:
        return part().get_overload(signature)

    dispatcher.get_call_template = get_call_template
    dispatcher.get_overload = get_overload


# --- What is used of Numba ------------------------------------------------------------------------


def check_internals() -> None:
    """Raises ImportError where this Numba lacks something that is used here."""
    codegen = cpu_target.target_context.codegen()
    for owner, names in (
        (Flags(), ("_values", "nrt", "no_compile", "no_cpython_wrapper", "no_cfunc_wrapper")),
        (CPUTargetOptions, ("no_cfunc_wrapper", "_nrt")),
        (Dispatcher, ("add_overload", "get_call_template", "get_overload")),
        (cpu_target.target_context, ("insert_user_function",)),
        (cpu_target.typing_context, ("resolve_function_type",)),
        (codegen, ("_data_layout", "_module_pass_manager", "_tm", "set_env")),
        (create_pipeline_tuning_options(), ("loop_interleaving", "speed_level")),
        (
            JITCodeLibrary(codegen, "novum"),
            (
                "_codegen",
                "_final_module",
                "_finalized",
                "_linking_libraries",
                "_optimize_final_module",
                "_optimize_functions",
                "add_linking_library",
                "codegen",
                "enable_object_caching",
                "finalize",
            ),
        ),
    ):
        for name in names:
            if not hasattr(owner, name):
                kind = owner if isinstance(owner, type) else type(owner)
                raise ImportError(f"this Numba's {kind.__name__} has no {name}.")


check_internals()
