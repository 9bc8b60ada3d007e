"""Faults of the local APNs, drawn at random: every kind that its help lists, and some of each."""


def draw(random):
    """Specifications for `peal mock --fault`; rates are for hundreds of thousands of requests."""
    between = random.randint
    share = lambda low, high: f"{random.uniform(low, high):.5f}"
    menu = [
        # Answers.
        lambda: f"status=429 reason=TooManyRequests p={share(0.001, 0.01)}",
        lambda: f"status=500 reason=InternalServerError p={share(0.001, 0.01)}",
        lambda: f"status=503 reason=ServiceUnavailable p={share(0.001, 0.01)}",
        lambda: f"status=503 reason=Shutdown every={between(5000, 30000)}",
        lambda: f"status=410 reason=Unregistered p={share(0.001, 0.02)}",
        lambda: f"status=400 reason=BadDeviceToken p={share(0.001, 0.02)}",
        lambda: f"status=400 reason=DeviceTokenNotForTopic p={share(0.0005, 0.005)}",
        lambda: f"status=418 reason=NobodyKnowsThis p={share(0.0005, 0.005)}",
        lambda: f"stuck={random.choice([500, 503])} per=connection every={between(4, 9)} times=1",
        # Time.
        lambda: f"latency={between(0, 5)}ms..{between(6, 40)}ms p={share(0.05, 1)}",
        lambda: f"latency=lognormal:{between(1, 10)}ms:0.7 p={share(0.05, 0.5)}",
        lambda: f"silence p={share(0.0001, 0.001)}",
        lambda: f"round-trip={between(1, 15)}ms p={share(0.2, 1)}",
        lambda: f"slow-handshake={between(20, 400)}ms p={share(0.1, 0.5)}",
        # Streams.
        lambda: f"reset=REFUSED_STREAM every={between(40, 1000)}",
        lambda: f"reset={random.choice(['INTERNAL_ERROR', 'CANCEL', 'NO_ERROR'])} "
                f"p={share(0.0002, 0.003)}",
        # Connections.
        lambda: f"goaway=now unprocessed={between(0, 40)} wait=20ms every={between(3000, 20000)}",
        lambda: f"goaway=now reason={random.choice(['Shutdown', 'BadCertificate'])} "
                f"unprocessed={between(0, 3)} wait=5ms every={between(5000, 20000)}",
        lambda: f"goaway=now code=ENHANCE_YOUR_CALM every={between(8000, 30000)}",
        lambda: f"goaway=graceful wait={between(1, 60)}ms every={between(3000, 20000)}",
        lambda: f"goaway=graceful wait=200ms per=connection p={share(0.1, 0.4)}",
        lambda: f"cut every={between(4000, 30000)}",
        lambda: f"cut per=connection p={share(0.05, 0.2)}",
        lambda: f"half-open every={between(20000, 80000)} times=2",
        lambda: f"hang-up={random.choice(['tcp', 'tls'])} every={between(4, 9)}",
        lambda: f"connection-rate={between(8, 40)}",
        # Limits.
        lambda: f"settings streams={between(1, 60)} p={share(0.0001, 0.0005)}",
        lambda: f"settings streams={between(100, 1000)} p={share(0.0001, 0.0005)}",
        lambda: f"settings window={between(0, 3000)} every={between(20000, 60000)}",
        lambda: f"settings window={between(4000, 70000)} every={between(5000, 20000)}",
        lambda: f"settings table={random.choice([0, 128, 4096, 16384])} every={between(900, 9000)}",
        lambda: f"no-window-update every={between(20000, 60000)} times=2",
    ]
    chosen = random.sample(range(len(menu)), between(6, 14))
    return [menu[index]() for index in sorted(chosen)]
