/// The name of a member; each reader creates its string once.
package struct PayloadName: Sendable, Hashable {
  /// The number of the name, from 0. A reader gives a name the same number each time, so it can index an array of columns.
  package let index: Int
  /// The name.
  package let text: String
}

/// The names that a reader has read, each with its role.
///
/// The rows of a feed repeat their names in one order. So each name stores which name followed it last; a lookup of
/// that name compares bytes and needs no hash.
struct PayloadNames {
  /// The role of members with a name.
  enum Role: Equatable {
    case property
    /// Control information of the object, or of the property `target`.
    case control(ControlInformation)
    /// An annotation on the object, or on the property `target`; `term` is its term.
    case annotation
    /// An available operation; its name is in `term`.
    case operation
    /// V2: `__metadata`, `__deferred`, `__mediaresource`.
    case metadata, deferred, mediaResource
  }

  struct Entry {
    let name: PayloadName
    let role: Role
    /// The property that the name refers to; -1 for the object itself.
    var target: Int32 = -1
    var term = ""
    fileprivate let start: Int
    fileprivate let length: Int
    fileprivate var successor: Int32 = -1
    fileprivate var firstChild: Int32 = -1
    fileprivate var nextOfHash: Int32 = -1
  }

  static let maximumCount = 65_536

  /// The dialect of the names.
  var dialect = ODataDialect.v4
  private(set) var entries: [Entry] = []
  private var arena: [UInt8] = []
  private var heads: [Int: Int32] = [:]
  private var firstOfAll: Int32 = -1

  subscript(index: Int32) -> Entry { entries[Int(index)] }
  func role(_ index: Int32) -> Role { entries[Int(index)].role }
  func name(_ index: Int32) -> PayloadName { entries[Int(index)].name }

  /// Returns the number of a name. `parent` is the property whose object contains it (-1 for a row), `previous` the
  /// name before it in that object (-1 for the first).
  @inline(__always)
  mutating func lookUp(
    _ bytes: UnsafeBufferPointer<UInt8>, isEscaped: Bool, parent: Int32, previous: Int32
  ) throws(PayloadError.Problem) -> Int32 {
    let guess: Int32
    if previous >= 0 {
      guess = entries[Int(previous)].successor
    } else {
      guess = parent >= 0 ? entries[Int(parent)].firstChild : firstOfAll
    }
    if guess >= 0, !isEscaped, isSame(guess, bytes) { return guess }
    let number = isEscaped ? try intern(JSONText.unescape(bytes)) : try find(bytes)
    if previous >= 0 {
      entries[Int(previous)].successor = number
    } else if parent >= 0 {
      entries[Int(parent)].firstChild = number
    } else {
      firstOfAll = number
    }
    return number
  }

  /// Returns the number of a name that is given as text.
  mutating func intern(_ text: String) throws(PayloadError.Problem) -> Int32 { try intern(Array(text.utf8)) }

  private mutating func intern(_ bytes: [UInt8]) throws(PayloadError.Problem) -> Int32 {
    try bytes.withUnsafeBufferPointer { bytes throws(PayloadError.Problem) in try find(bytes) }
  }

  @inline(__always)
  private func isSame(_ index: Int32, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let start = entries[Int(index)].start
    guard entries[Int(index)].length == bytes.count else { return false }
    for place in 0..<bytes.count where arena[start + place] != bytes[place] { return false }
    return true
  }

  private mutating func find(_ bytes: UnsafeBufferPointer<UInt8>) throws(PayloadError.Problem) -> Int32 {
    var hasher = Hasher()
    hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
    let hash = hasher.finalize()
    var candidate = heads[hash] ?? -1
    while candidate >= 0 {
      if isSame(candidate, bytes) { return candidate }
      candidate = entries[Int(candidate)].nextOfHash
    }
    guard entries.count < PayloadNames.maximumCount, bytes.count < 1 << 16 else {
      throw .tooManyNames(limit: PayloadNames.maximumCount)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    var entry = try classify(text, length: bytes.count)
    arena.append(contentsOf: bytes)
    // Classification may have added the name that this one refers to.
    entry.nextOfHash = heads[hash] ?? -1
    let index = Int32(truncatingIfNeeded: entries.count)
    heads[hash] = index
    entries.append(entry.numbered(index))
    return index
  }

  private mutating func classify(_ text: String, length: Int) throws(PayloadError.Problem) -> Entry {
    func entry(_ role: Role, target: Int32 = -1, term: String = "") -> Entry {
      // Read only now, because interning the target changes the count.
      Entry(
        name: PayloadName(index: 0, text: text), role: role, target: target, term: term, start: arena.count,
        length: length)
    }
    if let role = verboseRole(text) { return entry(role) }
    if text.utf8.first == UInt8(ascii: "#"), text.utf8.count > 1 {
      return entry(.operation, term: String(text.dropFirst()))
    }
    if text.hasPrefix("odata."), let control = ControlInformation(spelling: text.dropFirst(6)) {
      return entry(.control(control))
    }
    guard let at = text.utf8.firstIndex(of: UInt8(ascii: "@")) else { return entry(.property) }
    let term = String(text[text.index(after: at)...])
    var target: Int32 = -1
    if at > text.startIndex { target = try intern(String(text[..<at])) }
    let spelling = term.hasPrefix("odata.") ? term.dropFirst(6) : term[...]
    let role: Role
    if let control = ControlInformation(spelling: spelling) { role = .control(control) } else { role = .annotation }
    return entry(role, target: target, term: term)
  }

  private func verboseRole(_ text: String) -> Role? {
    guard dialect == .v2, text.hasPrefix("__") else { return nil }
    switch text {
    case "__metadata": return .metadata
    case "__deferred": return .deferred
    case "__mediaresource": return .mediaResource
    case "__count": return .control(.count)
    case "__next": return .control(.nextLink)
    case "__delta": return .control(.deltaLink)
    default: return nil
    }
  }
}

extension PayloadNames.Entry {
  fileprivate func numbered(_ index: Int32) -> PayloadNames.Entry {
    var entry = PayloadNames.Entry(
      name: PayloadName(index: Int(index), text: name.text), role: role, target: target, term: term, start: start,
      length: length)
    entry.nextOfHash = nextOfHash
    return entry
  }
}
