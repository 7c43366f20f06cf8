"""Optimistic concurrency: a write or read that names the tag it expects."""

from azure.core import MatchConditions

from harness import done, feature, refused, same_container

ONLY_THIS = MatchConditions.IfNotModified
ONLY_OTHERS = MatchConditions.IfModified


@feature("etags.replace")
async def test_a_replace_with_a_stale_tag_is_refused_and_changes_nothing(cosmos):
    container = await cosmos.container()
    first = await done(container.create_item({"id": "a", "pk": "p", "n": 1}))
    replace = lambda n, tag: container.replace_item(  # noqa: E731
        "a", {"id": "a", "pk": "p", "n": n}, etag=tag, match_condition=ONLY_THIS
    )
    second = await done(replace(2, first["_etag"]))
    assert await refused(lambda: replace(3, first["_etag"])) == 412
    assert (await done(container.read_item("a", "p")))["n"] == 2
    await done(replace(4, second["_etag"]))
    assert (await done(container.read_item("a", "p")))["n"] == 4


@feature("etags.upsert")
async def test_an_upsert_with_a_stale_tag_is_refused(cosmos):
    container = await cosmos.container()
    first = await done(container.upsert_item({"id": "a", "pk": "p", "n": 1}))
    upsert = lambda n, tag: container.upsert_item(  # noqa: E731
        {"id": "a", "pk": "p", "n": n}, etag=tag, match_condition=ONLY_THIS
    )
    second = await done(upsert(2, first["_etag"]))
    assert second["n"] == 2
    assert await refused(lambda: upsert(3, first["_etag"])) == 412
    assert (await done(container.read_item("a", "p")))["n"] == 2


@feature("etags.delete")
async def test_a_delete_with_a_stale_tag_is_refused(cosmos):
    container = await cosmos.container()
    first = await done(container.create_item({"id": "a", "pk": "p", "n": 1}))
    second = await done(container.replace_item("a", {"id": "a", "pk": "p", "n": 2}))
    delete = lambda tag: container.delete_item("a", "p", etag=tag, match_condition=ONLY_THIS)  # noqa: E731
    assert await refused(lambda: delete(first["_etag"])) == 412
    assert (await done(container.read_item("a", "p")))["n"] == 2
    await done(delete(second["_etag"]))
    assert await refused(lambda: container.read_item("a", "p")) == 404


@feature("etags.not_modified")
async def test_a_read_that_knows_the_tag_answers_without_the_item(cosmos):
    container = await cosmos.container()
    first = await done(container.create_item({"id": "a", "pk": "p", "n": 1}))
    read = lambda: container.read_item("a", "p", etag=first["_etag"], match_condition=ONLY_OTHERS)  # noqa: E731
    unchanged = await done(read())
    assert not unchanged
    await done(container.replace_item("a", {"id": "a", "pk": "p", "n": 2}))
    assert (await done(read()))["n"] == 2


@feature("etags.two_writers")
async def test_of_two_writers_with_one_tag_one_succeeds(cosmos):
    container = await cosmos.container()
    other = same_container(container, await cosmos.open())
    tag = (await done(container.create_item({"id": "a", "pk": "p", "by": "nobody"})))["_etag"]

    def write(through, name):
        body = {"id": "a", "pk": "p", "by": name}
        return lambda: through.replace_item("a", body, etag=tag, match_condition=ONLY_THIS)

    outcomes = await cosmos.together(write(container, "first"), write(other, "second"))
    assert sorted(outcomes) == [200, 412]
    winner = ["first", "second"][outcomes.index(200)]
    assert (await done(container.read_item("a", "p")))["by"] == winner
