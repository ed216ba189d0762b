"""A relay that nobody here wrote, on a loopback port: the local relay of nostr-sdk (Rust), with NIP-77.

    python local_relay.py [--max-limit N]

Prints {"url", "software"} as one line and ends when standard input ends.
"""

import argparse
import asyncio
import json
import sys
from importlib.metadata import version

from nostr_sdk import LocalRelayBuilder, RateLimit


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-limit", type=int, help="the most events in a page (500 at the most, which is what it is unless told)")
    arguments = parser.parse_args()

    builder = LocalRelayBuilder().addr("127.0.0.1").rate_limit(RateLimit(max_reqs=1000, notes_per_minute=10_000_000))
    if arguments.max_limit is not None:
        builder = builder.max_filter_limit(arguments.max_limit)
    relay = builder.build()
    await relay.run()
    url = await relay.url()
    print(json.dumps({"url": str(url), "software": f"nostr-sdk {version('nostr-sdk')}"}), flush=True)

    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    relay.shutdown()


asyncio.run(main())
