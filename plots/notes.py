"""What a figure says in words: what was fixed, how many trials, and what isn't shown or isn't ours."""

from collections.abc import Collection

from harness import quantity
from plots.rows import Selection


def fixed(*selections: Selection) -> str:
    """The parameters that the figure keeps fixed, for its second line; each different sentence once."""
    return "; ".join(dict.fromkeys(quantity.sentence(one.setting) for one in selections))


def below(*selections: Selection, published: str | None = None) -> list[str]:
    """The notes at the foot. `published`: what the published values are for, None where none are shown."""
    counts = [
        count
        for one in selections
        for count in one.frame.groupby(["scenario", *one.varied, "backend"])["trial"].nunique()
    ]
    lines = [trials(counts)]
    omitted = sum(one.omitted for one in selections)
    if omitted:
        settings = "another setting" if omitted == 1 else f"{omitted} other settings"
        lines.append(f"The rows hold {settings} of parameters that this figure keeps fixed.")
    if published is not None:
        lines.append(
            f"Hollow: values published in 2024 ({published}), measured with older versions on another, "
            "larger machine; a line of reference and no result of this suite."
        )
    return lines


def trials(counts: Collection[int], each: str = "Each value is the mean of") -> str:
    """Of how many trials the values are."""
    fewest, most = min(counts), max(counts)
    if most == 1:
        return "One trial of each, so there are no intervals."
    number = f"{most}" if fewest == most else f"{fewest} to {most}"
    return f"{each} {number} trials; whiskers show its 95 % interval."
