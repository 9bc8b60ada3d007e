"""Sends a notification to each device token of a file by aioapns, and at last one to a bad token.

Usage: aioapns_send.py HOST PORT CA_FILE KEY_FILE KEY_ID TEAM_ID TOPIC TOKENS_FILE

Prints how many got which status, and what became of the bad token, as JSON.
"""

import asyncio
import collections
import json
import ssl
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsDevelopmentClientProtocol


async def main(host, port, ca_file, key_file, key_id, team_id, topic, tokens_file):
    class LocalProtocol(APNsDevelopmentClientProtocol):
        APNS_SERVER = host
        APNS_PORT = int(port)

    with open(key_file) as file:
        key = file.read()
    with open(tokens_file) as file:
        tokens = file.read().split()

    apns = APNs(
        key=key,
        key_id=key_id,
        team_id=team_id,
        topic=topic,
        use_sandbox=True,
        # More connections would each begin with several requests at once: see below.
        max_connections=1,
        # No ALPN, like the context that aioapns makes by itself.
        ssl_context=ssl.create_default_context(cafile=ca_file),
    )
    apns.pool.protocol_class = LocalProtocol

    def send(token):
        message = {"aps": {"alert": "Hello from aioapns"}}
        return apns.send_notification(
            NotificationRequest(device_token=token, message=message, push_type=PushType.ALERT)
        )

    # Until APNs has seen a valid provider token, it allows one stream and refuses others. aioapns
    # may send before it has read that limit, and does not notice that a stream was refused. So the
    # first request goes alone, as Apple asks.
    first = await send(tokens[0])
    others = await asyncio.gather(*map(send, tokens[1:]))
    bad = await send("not-hexadecimal")
    apns.pool.close()

    statuses = collections.Counter(result.status for result in [first, *others])
    print(json.dumps({"statuses": statuses, "bad": [bad.status, bad.description]}))


asyncio.run(main(*sys.argv[1:]))
