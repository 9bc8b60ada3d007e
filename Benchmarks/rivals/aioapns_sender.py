"""Sends a notification to each device token of a file by aioapns.

Usage: aioapns_sender.py HOST PORT CA_FILE KEY_FILE TOPIC TOKENS_FILE COUNT CONNECTIONS STREAMS BODY_FILE

CONNECTIONS * STREAMS requests are in flight. Prints how many got which status, as JSON. aioapns takes
a 200 for an answer only when the server sends `apns-id` back.
"""

import asyncio
import collections
import json
import logging
import ssl
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsDevelopmentClientProtocol


async def main(host, port, ca, key_file, topic, tokens_file, count, connections, streams, body_file):
    class LocalProtocol(APNsDevelopmentClientProtocol):
        APNS_SERVER = host
        APNS_PORT = int(port)

    logging.disable(logging.CRITICAL)  # its log of waiting for a free stream costs it a lot
    with open(tokens_file) as file:
        tokens = file.read().split()[: int(count)]
    with open(body_file) as file:
        message = json.load(file)
    context = ssl.create_default_context(cafile=ca)
    context.set_alpn_protocols(["h2"])
    with open(key_file) as file:
        key = file.read()
    apns = APNs(
        key=key,
        key_id="ABC123DEFG",
        team_id="DEF123GHIJ",
        topic=topic,
        use_sandbox=True,
        max_connections=int(connections),
        ssl_context=context,
    )
    apns.pool.protocol_class = LocalProtocol
    statuses = collections.Counter()

    async def send(token):
        request = NotificationRequest(
            device_token=token, message=message, time_to_live=0, priority=10, push_type=PushType.ALERT
        )
        result = await apns.send_notification(request)
        statuses[result.status] += 1

    rest = iter(tokens)
    # Until APNs has seen a valid provider token, it allows one stream and refuses others, which
    # aioapns does not notice. So each connection begins with one request that goes alone.
    for _ in range(int(connections)):
        connection = await apns.pool.create_connection()
        apns.pool.connections.append(connection)
        result = await connection.send_notification(
            NotificationRequest(
                device_token=next(rest), message=message, time_to_live=0, priority=10,
                push_type=PushType.ALERT,
            )
        )
        statuses[result.status] += 1

    # It fills one connection before it uses the next: the streams of each are bounded here.
    async def worker():
        for token in rest:
            await send(token)

    await asyncio.gather(*(worker() for _ in range(int(connections) * int(streams))))
    apns.pool.close()
    print(json.dumps(statuses))


asyncio.run(main(*sys.argv[1:]))
