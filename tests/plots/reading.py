"""What a picture says, read off its axes."""


def heights(axes, container):
    return [bar.get_height() for bar in axes.containers[container].patches]


def legend_texts(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def tick_texts(axes):
    return [text.get_text() for text in axes.get_xticklabels()]


def spans(axes):
    """The ends of the vertical error bars of the last container."""
    (bars,) = axes.containers[-1].lines[2]
    return [(low, high) for (_, low), (_, high) in bars.get_segments()]
