"""Letters of 5 x 7 dots, for pictures: each five columns, the lowest bit on top."""
import numpy as np

COLUMNS = {
    " ": "0000000000", "(": "001c224100", ")": "0041221c00", ",": "0050300000", "-": "0808080808",
    ".": "0060600000", "0": "3e5149453e", "1": "00427f4000", "2": "4261514946", "3": "2141454b31",
    "4": "1814127f10", "5": "2745454539", "6": "3c4a494930", "7": "0171090503", "8": "3649494936",
    "9": "064949291e", ":": "0036360000", "a": "2054545478", "b": "7f48444438", "c": "3844444420",
    "d": "384444487f", "e": "3854545418", "f": "087e090102", "g": "0c5252523e", "h": "7f08040478",
    "i": "00447d4000", "j": "2040443d00", "k": "7f10284400", "l": "00417f4000", "m": "7c04180478",
    "n": "7c08040478", "o": "3844444438", "p": "7c14141408", "q": "081414187c", "r": "7c08040408",
    "s": "4854545420", "t": "043f444020", "u": "3c4040207c", "v": "1c2040201c", "w": "3c4030403c",
    "x": "4428102844", "y": "0c5050503c", "z": "4464544c44", "H": "7f0808087f",
}  # fmt: skip


def drawn(text, scale=2):
    """A picture of a line of text, [height, width], True where there is ink."""
    columns = [list(bytes.fromhex(COLUMNS[letter])) + [0] for letter in text]
    dots = np.array([[column >> row & 1 for letter in columns for column in letter] for row in range(8)], bool)
    return dots.repeat(scale, 0).repeat(scale, 1)
