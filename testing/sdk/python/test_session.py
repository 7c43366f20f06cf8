"""Session consistency: what one client wrote, another reads when it is given the token."""

import re

from harness import done, feature, rows, same_container


@feature("session.read_your_writes")
async def test_a_token_carries_a_write_to_another_client(cosmos):
    writer = await cosmos.container()
    reader = same_container(writer, await cosmos.open())
    for n in range(5):
        written = await done(writer.upsert_item({"id": "a", "pk": "p", "n": n}))
        token = written.get_response_headers()["x-ms-session-token"]
        assert (await done(reader.read_item("a", "p", session_token=token)))["n"] == n


@feature("session.read_your_writes")
async def test_every_write_moves_the_token_forward(cosmos):
    container = await cosmos.container()
    numbers = []
    for n in range(3):
        written = await done(container.upsert_item({"id": "a", "pk": "p", "n": n}))
        token = re.fullmatch(r"0:-1#(\d+)", written.get_response_headers()["x-ms-session-token"])
        assert token, "a token is <range>:-1#<number>"
        numbers.append(int(token[1]))
    assert numbers == sorted(set(numbers))


@feature("session.read_your_writes")
async def test_tokens_of_several_ranges_work_together(cosmos):
    writer = await cosmos.container(offer_throughput=12_000)
    reader = same_container(writer, await cosmos.open())
    for n in range(10):
        written = await done(writer.create_item({"id": f"i{n}", "pk": f"p{n}"}))
        token = written.get_response_headers()["x-ms-session-token"]
        assert (await done(reader.read_item(f"i{n}", f"p{n}", session_token=token)))["id"] == f"i{n}"
    assert len(await rows(reader.read_all_items())) == 10
