import LarderOData

/// Makes texts: of random bytes, of random words, and of valid texts with something changed.
struct FuzzMutator {
  let corpus: [FuzzCase]
  var random: FuzzRandom

  private static let words: [String] = [
    "(", ")", "[", "]", "{", "}", "'", "''", "\"", "%", "%27", "%00", "%FF", "%C3%A4", "%2F", "&", ";", ",", "/", "?",
    "#", "=", ":", "@",
    "$", "*", "-", "+", ".", " ", "%20", "\t", "$it", "$this", "$these", "$root/", "$count", "$filter=", "$filter(",
    "$expand=", "$select=",
    "$orderby=", "$apply=", "$search=", "$compute=", "$levels=max", "$top=", "$skip=", "$value", "$ref", "$each",
    "$all", "$crossjoin(",
    "$entity", "$metadata", "$batch", "$links", " eq ", " and ", " or ", "not ", " in ", " has ", " add ", " desc",
    " as ", " with sum ",
    " from ", "any(", "all(x:", "aggregate(", "groupby((", "concat(", "rollup(", "identity", "keep start", "cast(",
    "isof(", "case(",
    "isdefined(", "contains(", "geo.distance(", "now()", "null", "true", "INF", "NaN", "-INF", "9999999999999999999999",
    "1e999", "0.1",
    "12L", "1M", "1.5d", "duration'PT1S'", "datetime'2012-01-01T00:00:00'", "guid'", "X'AB'", "binary'AAE='",
    "geography'SRID=0;Point(1 2)'",
    "2012-02-30", "23:59:60", "-0001-01-01", "2012-01-01T00:00:00Z", "00000000-0000-0000-0000-000000000000",
    "Ns.Color'Red'", "Edm.String",
    "Collection(", "NOT ", " AND ", " OR ", "é", "名", "\u{1F600}", "\u{0}", "\u{FEFF}", "\\u0041", "\\", "!deltatoken=",
    "substringof(",
  ]

  init(corpus: [FuzzCase], random: FuzzRandom) {
    self.corpus = corpus
    self.random = random
  }

  private mutating func version() -> ODataVersion { random.pick([.v401, .v401, .v401, .v4, .v2, .v3]) }

  /// Bytes, or words of the language in no order.
  mutating func rubbish() -> FuzzCase {
    var bytes: [UInt8] = []
    let isWords = random.once(in: 2)
    for _ in 0..<random.below(60) {
      if isWords || random.once(in: 8) {
        bytes += Array(random.pick(FuzzMutator.words).utf8)
      } else {
        bytes.append(UInt8(truncatingIfNeeded: random.once(in: 3) ? random.next() : 0x20 + random.next() % 0x5F))
      }
    }
    return FuzzCase(
      entry: random.pick(FuzzEntry.allCases), version: version(), text: String(decoding: bytes, as: UTF8.self))
  }

  /// A valid text, changed in one to four places; sometimes read as something else.
  mutating func mutant() -> FuzzCase {
    guard !corpus.isEmpty else { return rubbish() }
    var item = random.pick(corpus)
    var bytes = Array(item.text.utf8)
    for _ in 0...random.below(4) { mutate(&bytes) }
    if random.once(in: 8) { item.entry = random.pick(FuzzEntry.allCases) }
    if random.once(in: 3) { item.version = version() }
    item.text = String(decoding: bytes.prefix(4000), as: UTF8.self)
    return item
  }

  private mutating func range(in bytes: [UInt8], longest: Int) -> Range<Int> {
    let start = random.below(bytes.count + 1)
    return start..<min(bytes.count, start + random.below(longest + 1))
  }

  private mutating func mutate(_ bytes: inout [UInt8]) {
    let place = random.below(bytes.count + 1)
    switch random.below(10) {
    case 0: bytes.removeSubrange(range(in: bytes, longest: 12))
    case 1: bytes.insert(contentsOf: Array(bytes[range(in: bytes, longest: 20)]), at: place)
    case 2, 3: bytes.insert(contentsOf: Array(random.pick(FuzzMutator.words).utf8), at: place)
    case 4: bytes.replaceSubrange(range(in: bytes, longest: 6), with: Array(random.pick(FuzzMutator.words).utf8))
    case 5:
      let other = Array(random.pick(corpus).text.utf8)
      bytes = Array(bytes[..<place]) + Array(other[range(in: other, longest: 60)]) + Array(bytes[place...])
    case 6:
      let part = Array(bytes[range(in: bytes, longest: 10)])
      bytes.insert(contentsOf: Array(repeatElement(part, count: 2 + random.below(60)).joined()), at: place)
    case 7: bytes.removeSubrange(place...)
    case 8 where place < bytes.count: bytes[place] = UInt8(truncatingIfNeeded: random.next())
    case 9 where place < bytes.count:
      let digits = Array("%\(bytes[place] < 16 ? "0" : "")\(String(bytes[place], radix: 16, uppercase: true))".utf8)
      bytes.replaceSubrange(place..<place + 1, with: digits)
    default: if place < bytes.count { bytes[place] ^= 0x20 }
    }
  }
}
