"""The live view in a headless Chromium: what the page shows, and what buttons, sliders and keys change.

The view runs as a user starts it, by the command line; WebGL is drawn in software.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numpy.typing import NDArray

import granular_gym as gg

for module in ("viser", "skimage", "trimesh", "selenium"):
    pytest.importorskip(module, reason=f"{module} is not installed")
image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if CHROMIUM is None or DRIVER is None:
    pytest.skip("chromium or chromedriver is not installed (apt: chromium, chromium-driver)", allow_module_level=True)

from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402

from granular_gym.view import Viewer  # noqa: E402

GRAINS, MORE_GRAINS = 60, 90
#: a busy machine draws a picture in software within this time [s]
PATIENCE = 60.0


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        "--window-size=1150,520",
    ):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


class View:
    """A driven view.

    Args:
        folder: of its files.
        words: of the command line.

    Attributes:
        said: what it has printed.
        film: that it writes.
    """

    def __init__(self, folder: Path, *words: str) -> None:
        self.said, self.film = "", folder / "film.mp4"
        always = ["--drive", "--arg", f"grain_count={GRAINS}", "--port", "0", "--out", str(folder)]
        always += ["--record", str(self.film)]
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", "granular_gym", "view", "silo", *always, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        os.set_blocking(self.process.stdout.fileno(), False)
        wait_for(lambda: "(Ctrl-C ends" in self.printed() or self.process.poll() is not None, self.printed)
        self.url = "http" + self.said.split(": http")[1].split(" ")[0]

    def printed(self) -> str:
        self.said += (self.process.stdout.read() or b"").decode()
        return self.said

    def saved(self, count: int) -> list[Path]:
        """The states of the first world, once there are so many."""
        lines = wait_for(lambda: [x for x in self.printed().splitlines() if x.startswith("saved ")][count - 1 :])
        assert len(lines) == 1
        return [Path(x.split()[1].rstrip(",")) for x in self.said.splitlines() if x.startswith("saved ")]

    def end(self) -> int:
        """Ends it as Ctrl-C does; its exit status."""
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(30)
        self.printed()
        return status

    def clean(self) -> None:
        """Leaves nothing of it behind."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="module")
def viewed(browser: Any, tmp_path_factory: Any) -> Iterator[View]:
    """A view of two copies in the browser, paused after the first step: a running one keeps one without a GPU busy."""
    view = View(tmp_path_factory.mktemp("view"), "--beside", f"grain_count={MORE_GRAINS}", "--paused")
    try:
        browser.get(view.url)
        wait_for(lambda: step_of(browser) == 1)
        yield view
    finally:
        view.clean()


#: the control at a label
LABELLED = "(//label[normalize-space()='{}']/following::input[{}])[1]"
#: a cell of the table of numbers
CELL = "//table[@class='numbers']//tr[td[1][normalize-space()='{}']]/td[{}]"


def wait_for(true: Callable[[], Any], why: Callable[[], str] = lambda: "") -> Any:
    """What `true` gives, once it is true."""
    end = time.monotonic() + PATIENCE
    while not (answer := true()):
        assert time.monotonic() < end, why()
        time.sleep(0.05)
    return answer


def text_of(browser: Any) -> str:
    return str(browser.execute_script("return document.body.innerText"))


def cell(browser: Any, name: str, column: int = 2) -> str:
    """Of the table of numbers; "": it is not there, or being replaced."""
    script = "const e = document.evaluate(arguments[0], document, null, 9).singleNodeValue; return e ? e.innerText : ''"
    return str(browser.execute_script(script, CELL.format(name, column)))


def step_of(browser: Any) -> int:
    return int(cell(browser, "step") or 0)


def press(browser: Any, button: str) -> None:
    browser.find_element(By.XPATH, f"//button[normalize-space()='{button}']").click()


def canvas(browser: Any) -> NDArray[np.int64]:
    """What the scene shows between the panels, (H, W, 3) in 0 .. 255."""
    whole = np.asarray(image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")).astype(np.int64)
    return whole[:, 310:-410]


def sand(picture: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where pixels have the hue of sand: more red than green, more green than blue."""
    red, green, blue = np.moveaxis(picture, 2, 0)
    return (red > green + 4) & (green > blue + 8) & (red - blue < 110)


def seen(browser: Any, share: float) -> NDArray[np.int64]:
    """The scene, once that share of it has the hue of sand."""
    pictures: list[NDArray[np.int64]] = []

    def is_drawn() -> bool:
        pictures.append(canvas(browser))
        return bool(sand(pictures[-1]).mean() > share)

    wait_for(is_drawn, lambda: f"{sand(pictures[-1]).mean():.4f} of the scene has the hue of sand")
    return pictures[-1]


def drawn_lines(browser: Any) -> list[int]:
    """Of each plot, how many pixels have a colour that is no grey."""
    script = """return [...document.querySelectorAll('.uplot canvas')].map(c => {
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0;
        for (let k = 0; k < d.length; k += 4)
            if (d[k + 3] > 128 && Math.max(d[k], d[k+1], d[k+2]) - Math.min(d[k], d[k+1], d[k+2]) > 60) n++;
        return n })"""
    return list(browser.execute_script(script))


def receiver(path: Path) -> float:
    """Where a saved state has the receiver along x [m]."""
    env = gym.make("granular_gym/Silo-v1", grain_count=GRAINS, num_threads=1)
    env.reset(seed=0)
    world = env.unwrapped.task.world
    world.load_state(gg.State.load(path))
    place = float(world.tool_poses[0, world.tool_names.index("receiver"), 0])
    env.close()
    return place


def test_numbers_have_units_and_plots_names(browser: Any, viewed: View) -> None:
    text = wait_for(lambda: "return [-]" in (t := text_of(browser)) and t)
    for shown in (
        "force of the grains on receiver [N]",
        "torque of the grains on receiver [N m]",
        "dose_error [-]",
        "opening rate of the gate",
        "0.5 m/s",
        f"grain_count={GRAINS}: x",
        f"grain_count={MORE_GRAINS}: x",
    ):
        assert shown in text, shown
    rows = {"speed over real time": "s/s", "time": "s", "grains": "1", "threads": "1", "mass": "kg", "rate": "kg/s"}
    assert {name: cell(browser, name, 4) for name in rows} == rows
    assert [cell(browser, "grains", column) for column in (2, 3)] == [str(GRAINS), str(MORE_GRAINS)]


def test_grains_of_both_worlds_are_drawn(browser: Any, viewed: View) -> None:
    picture = seen(browser, 0.005)
    colours, counts = np.unique(picture.reshape(-1, 3), axis=0, return_counts=True)
    assert len(colours) > 300 and 0.1 < counts.max() / counts.sum() < 0.97
    columns, middle = np.flatnonzero(sand(picture).any(axis=0)), picture.shape[1] // 2
    for half in (columns[columns < middle], columns[columns >= middle]):
        assert len(half) > 15, "one of the worlds is not drawn"


def test_a_paused_view_takes_single_steps(browser: Any, viewed: View) -> None:
    first = step_of(browser)
    time.sleep(0.5)
    assert step_of(browser) == first, "it does not wait"
    for step in range(first + 1, first + 4):
        press(browser, "step")
        wait_for(lambda step=step: step_of(browser) == step)
    wait_for(lambda: min(drawn_lines(browser)) > 20, lambda: f"pixels of lines: {drawn_lines(browser)}")
    assert len(drawn_lines(browser)) == 5


def test_keys_drive(browser: Any, viewed: View) -> None:
    def receiver_speed() -> float:
        slider = LABELLED.format("speed of the receiver (J L)", "@type='text' or @inputmode")
        return float(browser.find_element(By.XPATH, slider).get_attribute("value"))

    assert receiver_speed() == 0.0
    press(browser, "save state")
    viewed.saved(1)
    page = browser.find_element(By.TAG_NAME, "body")
    for _ in range(5):
        page.send_keys("l")
    wait_for(lambda: receiver_speed() == 0.5)
    first = step_of(browser)
    for step in (first + 1, first + 2):
        press(browser, "step")
        wait_for(lambda step=step: step_of(browser) == step)
    press(browser, "save state")
    before, after = map(receiver, viewed.saved(2))
    assert after - before == pytest.approx(0.5 * 0.5 * 2 * 0.05, rel=0.05), "half of 0.5 m/s over two steps of 0.05 s"
    page.send_keys(" ")
    wait_for(lambda: receiver_speed() == 0.0)


def test_it_goes_on_and_leaves_a_film(browser: Any, viewed: View) -> None:
    first = step_of(browser)
    browser.find_element(By.XPATH, LABELLED.format("pause", "@type='checkbox'")).click()
    wait_for(lambda: step_of(browser) > first + 1)
    assert viewed.end() == 0, viewed.said
    assert int(viewed.said.split(f"wrote {viewed.film}, ")[1].split()[0]) > first
    assert viewed.film.stat().st_size > 1000


#: keeps what is written on canvases since they were cleared: the text, its left and right edge [pixels], its alignment
KEEP_TEXTS = """
    const p = CanvasRenderingContext2D.prototype, clear = p.clearRect, fill = p.fillText;
    p.clearRect = function (...a) { this.canvas.texts = []; return clear.apply(this, a); };
    p.fillText = function (text, x, ...a) {
        const width = this.measureText(text).width, at = x + this.getTransform().e;
        const left = at - (this.textAlign == 'right' ? width : this.textAlign == 'center' ? width / 2 : 0);
        (this.canvas.texts ??= []).push([text, left, left + width, this.textAlign]);
        return fill.call(this, text, x, ...a);
    };"""


def numbers_beside(browser: Any) -> list[list[str]]:
    """What is written along the vertical axes of the plots, upwards; none of it is cut."""
    script = "return [...document.querySelectorAll('.uplot canvas')].map(c => c.texts || [])"
    found = []
    for texts in browser.execute_script(script):
        upright = [each for each in texts if each[3] == "right"]
        assert all(left >= 0 for _, left, _, _ in upright), f"cut at the left: {upright}"
        found.append([text for text, *_ in upright])
    return found


def test_numbers_along_plots_fit_and_differ(browser: Any) -> None:
    scene = gg.Scene(bounds=((-1, -1, 0), (1, 1, 1)))
    sand = scene.add_material(radius=0.05, density=1600.0)
    scene.fill_box(sand, (-0.5, -0.5, 0.0), (0.5, 0.5, 0.3), 10)
    browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": KEEP_TEXTS})
    names = ("large [N]", "thousand [N]", "near one [-]", "small [-]", "precise [-]")
    with scene.build(env_count=1, num_threads=1) as world, Viewer(world, port=0, plots=names) as viewer:
        browser.get(viewer.url)
        nothing = ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        wait_for(lambda: numbers_beside(browser) == 5 * [nothing], lambda: str(numbers_beside(browser)))
        for factor, large in (
            (1.0, ["-60k", "-40k", "-20k", "0", "20k"]),
            (10.0, ["-800k", "-600k", "-400k", "-200k", "0"]),
        ):
            for share in np.linspace(0.0, 1.0, 5):
                numbers = (20e3 - 90e3 * factor * share, -1050 * share, 1.0001 + 3e-4 * share, -3e-4 * share)
                viewer._told = -np.inf
                viewer.update(0.02, values=dict(zip(names, (*numbers, -100e3 + share), strict=True)))
            expected = [
                large,
                ["-1000", "-500", "0"],
                ["1.0001", "1.0002", "1.0003", "1.0004"],
                ["-3e-4", "-2e-4", "-1e-4", "0"],
                ["-100.000k", "-99.999k"],
            ]
            wait_for(lambda e=expected: numbers_beside(browser) == e, lambda: str(numbers_beside(browser)))
        assert min(drawn_lines(browser)) > 20


def test_a_driven_view_begins_when_a_browser_comes(browser: Any, tmp_path: Path) -> None:
    view = View(tmp_path)
    try:
        wait_for(lambda: view.printed().count("no browser is connected") == 1, view.printed)
        time.sleep(5.0)
        begin = time.monotonic()
        browser.get(view.url)
        first = wait_for(lambda: step_of(browser))
        assert 0.05 * first < time.monotonic() - begin + 1.0, f"began before the browser came: step {first}"
        browser.get("about:blank")
        wait_for(lambda: view.printed().count("no browser is connected") == 2, view.printed)
        assert view.end() == 0, view.said
    finally:
        view.clean()
