"""The administrator's page in a real browser, after logging in; it draws its chart and complains of nothing."""

import pytest

pytest.importorskip("altair")


def test_the_administrator_sees_the_page(scene, browser, tmp_path):
    import threading

    import uvicorn

    from reidrisk.present.pages.sharing import written

    made = scene(max_risk=0.9)
    made.app.state.service.page = written
    made.join(8)
    made.rebuild()
    server = uvicorn.Server(uvicorn.Config(made.app, "127.0.0.1", 0, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
    url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/admin"
    password = made.admin["Authorization"].removeprefix("Bearer ")
    page = browser.new_page(http_credentials={"username": "administrator", "password": password})
    troubles = []
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    answer = page.goto(url)
    assert answer.status == 200
    page.wait_for_selector("canvas, svg")
    assert page.title() == "Sharing service: microaggregation:3"
    assert page.locator("#agents table tbody tr").count() == 8
    picture = page.screenshot(full_page=True)
    assert len(picture) > 20_000
    page.close()
    server.should_exit = True
    thread.join(30)
    # The icon that browsers ask for by themselves is none of ours.
    assert [text for text in troubles if "404" not in text] == []
