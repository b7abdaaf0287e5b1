"""The shop's data, as JSON bodies: the same in every run, with a seeded part of any size."""

import random

CATEGORIES = [
    {"ID": 1, "Name": "Dry goods", "Aisle": 4},
    {"ID": 2, "Name": "Fresh", "Chilled": True},
    {"ID": 3, "Name": "Éléments d'été"},
]

SUPPLIERS = [
    {
        "Country": "CH", "Number": 1, "Name": "Mühle & Söhne",
        "Address": {
            "@odata.type": "#Larder.Shop.PostalAddress", "Street": "Hauptstraße 1", "City": "Zürich",
            "PostalCode": "8001", "Location": {"type": "Point", "coordinates": [8.5417, 47.3769]}},
        "Others": [{"Street": None, "City": "Bern", "Location": None}, {"Street": "Quai 7", "City": "Genève"}],
    },
    {"Country": "IT", "Number": 1, "Name": "Orto d'Oro", "Address": {"Street": "Via Roma 9", "City": "Parma"},
     "Others": []},
    {"Country": "IT", "Number": 2, "Name": "Senza Indirizzo", "Address": None, "Others": []},
]

# The name, then category, supplier's position, and what differs from a plain product.
PRODUCTS = [
    ("Flour", 1, 0, {"Price": 2.95, "Stock": 120, "Labels": "Local", "Tags": ["baking", "wheat"], "Rating": 4.5}),
    ("Salt", 1, 0, {"Price": 0.8, "Stock": 9007199254740993, "Tags": [], "Description": None}),
    ("Saffron", 1, 1, {"Price": 9999999999999.99, "Stock": 1, "Color": "Red", "Labels": "Organic,New"}),
    ("Milk", 2, 0, {
        "@odata.type": "#Larder.Shop.Perishable", "Price": 1.6, "Stock": 40, "KeepsFor": "P7D",
        "BestBefore": "2026-02-01", "Color": "Blue", "Labels": "Organic,Local"}),
    ("Basil", 2, 1, {
        "@odata.type": "#Larder.Shop.Perishable", "Price": 2.2, "Stock": 0, "KeepsFor": "P2DT12H",
        "BestBefore": "2026-01-17", "Color": "Green", "Tags": ["herb"]}),
    ("Crème brûlée 🍮 'à l'ancienne'", 2, None, {
        "Price": 5.4, "Stock": 3, "Description": "Line one\nline \"two\"\t\\ / \u0001 \u2028 end"}),
]

WORDS = "amber barley cedar damson elder fennel ginger hazel iris juniper kale laurel mint nettle olive plum".split()


def products(seed, count):
    rows = []
    for number, (name, category, supplier, rest) in enumerate(PRODUCTS, start=1):
        row = {
            "ID": number, "Name": name, "Description": f"{name} of the house", "Color": None, "Labels": None,
            "Tags": [], "ReleasedOn": "2024-02-29", "UpdatedAt": "2026-01-15T10:00:00.125Z", "Rating": None}
        row.update(rest)
        rows.append((row, category, supplier))
    chance = random.Random(seed)
    while len(rows) < count:
        number = len(rows) + 1
        row = {
            "ID": number, "Name": f"{chance.choice(WORDS)} {chance.choice(WORDS)} {number}",
            "Description": " ".join(chance.choice(WORDS) for _ in range(chance.randint(0, 12))) or None,
            "Price": chance.randint(1, 100_000) / 100, "Stock": chance.randint(0, 500),
            "Color": chance.choice([None, "Red", "Green", "Blue"]),
            "Labels": chance.choice([None, "Organic", "Organic,Local", "Local,New,Reserved"]),
            "Tags": chance.sample(WORDS, chance.randint(0, 3)),
            "ReleasedOn": f"20{chance.randint(10, 25)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}",
            "UpdatedAt": f"2025-{chance.randint(1, 12):02}-01T{chance.randint(0, 23):02}:30:00.5+02:00",
            "Rating": chance.choice([None, round(chance.random() * 5, 2)])}
        rows.append((row, chance.choice([1, 2, 3]), chance.choice([None, 0, 1, 2])))
    return rows


ORDERS = [
    ({"ID": 1, "Customer": "Ada", "PlacedAt": "2026-01-14T09:30:00Z", "ShipTo": {"Street": "Long Lane 2", "City": "Ely"}},
     [{"Position": 1, "ProductID": 1, "Quantity": 2.5, "Price": 2.95},
      {"Position": 2, "ProductID": 4, "Quantity": 1, "Price": 1.6}]),
    ({"ID": 2, "Customer": "Grace", "PlacedAt": "2026-01-15T08:00:00.001+01:00", "ShipTo": None},
     [{"Position": 1, "ProductID": 3, "Quantity": 0.001, "Price": 9999999999999.99}]),
    ({"ID": 3, "Customer": None, "PlacedAt": None, "ShipTo": None}, []),
]

SHOP = {"Name": "Larder", "Address": {"Street": "Market 1", "City": "Ely"}, "OpensAt": "08:30:00"}

# Numbers are texts here: they are read with IEEE754Compatible=true, so that none is rounded on the way.
ALL_TYPES = [
    {
        "ID": 1, "Binary": "AAEC_v8", "Boolean": True, "Byte": 255, "Date": "2024-02-29",
        "DateTimeOffset": "2026-01-15T10:00:00.123456+05:30", "Decimal": "123456789012345678901234.0123456789",
        "Double": 1.7976931348623157e308, "Duration": "P12DT23H59M59.999999S",
        "Guid": "01234567-89ab-cdef-0123-456789abcdef", "Int16": 32767, "Int32": 2147483647,
        "Int64": "9223372036854775807", "SByte": 127, "Single": 3.4028234e38, "String": "plain",
        "TimeOfDay": "23:59:59.999999", "GeographyPoint": {"type": "Point", "coordinates": [142.1, 64.1]},
        "GeographyLineString": {"type": "LineString", "coordinates": [[1, 2], [3.5, -4.25]]},
        "GeographyPolygon": {"type": "Polygon", "coordinates": [[[0, 0], [4, 0], [4, 4], [0, 0]]]},
        "GeometryPoint": {"type": "Point", "coordinates": [1.5, -2.5]},
        "Strings": ["a", "", "ü"], "Int64s": ["-9223372036854775808", "0", "9223372036854775807"],
    },
    {
        "ID": 2, "Binary": "", "Boolean": False, "Byte": 0, "Date": "0001-01-01",
        "DateTimeOffset": "0001-01-01T00:00:00Z", "Decimal": "-0.0000000001", "Double": "-INF",
        "Duration": "-PT0.000001S", "Guid": "00000000-0000-0000-0000-000000000000", "Int16": -32768,
        "Int32": -2147483648, "Int64": "-9223372036854775808", "SByte": -128, "Single": "NaN", "String": "",
        "TimeOfDay": "00:00:00", "Strings": [], "Int64s": [],
    },
    {"ID": 3, "Strings": [], "Int64s": []},
]

TEXTS = [
    "amber", "Amber", "amber jar", "ÉTÉ", "été", "100%", "a_b", "a\\b", "it's", "two  words", " edge ", "", "zoë 🍮",
    "Straße",
]


def samples(seed, count=60):
    """Rows whose values often meet, with nulls, both signs and neighbours of each other."""
    chance = random.Random(seed + 1)

    def maybe(value):
        return None if chance.random() < 0.15 else value

    def sample(number):
        year, month, day = chance.choice([1999, 2023, 2024]), chance.randint(1, 12), chance.randint(1, 28)
        offset = chance.choice(["Z", "+02:00", "-05:30"])
        time = f"{chance.randint(0, 23):02}:{chance.choice([0, 30]):02}:{chance.choice(['00', '15', '15.5', '59.999'])}"
        return {
            "ID": number,
            "Binary": maybe(chance.choice(["AAEC", "_v8", ""])),
            "Boolean": maybe(chance.random() < 0.5),
            "Byte": maybe(chance.choice([0, 1, 2, 127, 128, 255])),
            "Date": maybe(f"{year}-{month:02}-{day:02}"),
            "DateTimeOffset": maybe(f"{year}-{month:02}-{day:02}T{time}{offset}"),
            "Decimal": maybe(chance.choice(
                ["0", "1", "-1", "1.5", "2.50", "-2.5", "0.1", "0.2", "0.3", "99.995", "1234567890123456789.01"])),
            "Double": maybe(chance.choice([0.0, 1.0, -1.5, 2.5, 0.1, 0.30000000000000004, 1e10, -1e-7])),
            "Duration": maybe(chance.choice(["PT0S", "PT1M", "PT60S", "P1D", "PT24H", "-PT1H", "PT0.5S"])),
            "Guid": maybe(f"{chance.randint(0, 3):08x}-0000-0000-0000-{chance.randint(0, 9):012x}"),
            "Int16": maybe(chance.randint(-5, 5)),
            "Int32": maybe(chance.choice([-100, -1, 0, 1, 7, 100, 2147483647])),
            "Int64": maybe(chance.choice([-3, 0, 3, 9007199254740992, 9007199254740993, 9223372036854775807])),
            "SByte": maybe(chance.choice([-128, -1, 0, 1, 127])),
            "Single": maybe(chance.choice([0.0, 0.5, -0.5, 3.25])),
            "String": maybe(chance.choice(TEXTS)),
            "TimeOfDay": maybe(time),
            "Color": maybe(chance.choice(["Red", "Green", "Blue"])),
            "Place": maybe({
                "Street": maybe(chance.choice(TEXTS)), "City": chance.choice(["Bern", "Ely", "Zürich"]),
                "Location": maybe({"type": "Point", "coordinates": [chance.randint(-9, 9), 1.5]})}),
            "Strings": [chance.choice(TEXTS) for _ in range(chance.randint(0, 3))],
            "Int64s": [str(chance.choice([-3, 0, 3, 9007199254740993])) for _ in range(chance.randint(0, 3))],
        }

    return [sample(number) for number in range(1, count + 1)]


def shelves(seed, products):
    """Each with the numbers of the products on it, and the place of the next."""
    chance = random.Random(seed + 2)
    rows = []
    for number in range(8):
        row = {
            "Code": f"5e1f0000-0000-4000-8000-{number:012x}", "Label": chance.choice([None, "left", "right", "Left"]),
            "Width": chance.choice([None, 0.5, 80, 80.25, 120.125]),
            "OpensAt": chance.choice([None, "08:00:00", "09:30:00.5"]),
            "Checked": chance.choice([None, "P1D", "PT36H"])}
        stock = chance.sample(range(products), chance.randint(0, min(6, products)))
        rows.append((row, stock, chance.choice([None, number + 1])))
    return rows


PHOTO = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cf50"
    "0f00038601803453b8d80000000049454e44ae426082")
