"""A panel of bars, each with its interval and its value."""

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from plots import style
from plots.chart import REST, WORK, Bar, BarPanel

_ROOM = 1.32  # times the longest bar, for the text at its end
_REACH = 1.25  # times the longest bar, at which whiskers end


def draw(axes: Axes, panel: BarPanel) -> None:
    """Draw a panel, the first bar on top."""
    axes.set_ylim(len(panel.bars) - 0.5, -0.5)
    axes.set_yticks(range(len(panel.bars)), [style.look(bar.series).label for bar in panel.bars])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    longest = max(bar.estimate.value for bar in panel.bars)
    most = max(longest, panel.line or 0.0)
    axes.set_xlim(0, _ROOM * most)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: panel.scale.text(value)))
    axes.set_xlabel(panel.scale.label)
    if panel.line is not None:
        axes.axvline(panel.line, color=style.FAINT, linewidth=1.2, linestyle=(0, (1, 1)), zorder=4)
    for lane, bar in enumerate(panel.bars):
        _draw_bar(axes, lane, bar)
        end = min(bar.estimate.high, _REACH * longest) if bar.estimate.decides else bar.estimate.value
        axes.annotate(bar.text, (end, lane), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8}, zorder=5)  # fmt: skip
        if bar.estimate.decides:
            whiskers = [[bar.estimate.value - bar.estimate.low], [end - bar.estimate.value]]
            axes.errorbar([bar.estimate.value], [lane], xerr=whiskers, color=style.INK, capsize=3, linewidth=1.2)


def _draw_bar(axes: Axes, lane: int, bar: Bar) -> None:
    look, left = style.look(bar.series), 0.0
    for kind, length in bar.parts or ((WORK, bar.estimate.value),):
        hollow = kind == REST or look.hollow
        color, edge, hatch = "white" if hollow else look.color, look.color, "////" if kind == REST else ""
        axes.barh(lane, length, left=left, height=0.66, color=color, edgecolor=edge, linewidth=0.8, hatch=hatch)
        left += length
