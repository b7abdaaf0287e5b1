import LarderHTTP

/// Replaces what the structure of JSON shows to be secret, also in JSON that ends early.
///
/// Secret are strings and numbers under a secret name, at any depth, and the `value` beside a `name` that is a secret
/// name. Control information and identifiers stay, also under a secret name: a recording must replay. CSDL JSON stays,
/// because it has no values.
struct JSONSecrets: ContentSecrets {
  private struct Frame {
    let isObject: Bool
    var protection = Protection.none
    /// Its members are header fields.
    var isFields = false
    /// It is the array of a pair's value.
    var isPairValue = false
    /// The name of the member whose value comes next.
    var name: [UInt8]?
    var isPairSecret = false
    var pairValues: [Range<Int>] = []
  }

  private enum Protection {
    case none
    case secret
    case kept
  }

  let bytes: [UInt8]
  /// Redacts JSON and XML in strings; nil if nothing changes.
  private let nested: ([UInt8]) -> [UInt8]?
  var edits = SecretEdits()
  private var frames: [Frame] = []
  var position = 0
  var isModel = false

  init(_ bytes: [UInt8], _ nested: @escaping ([UInt8]) -> [UInt8]?) {
    self.bytes = bytes
    self.nested = nested
  }

  mutating func closeAll() { while !frames.isEmpty { close() } }

  mutating func step() {
    switch bytes[position] {
    case UInt8(ascii: "\""): string()
    case UInt8(ascii: "{"), UInt8(ascii: "["): open()
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      close()
      position += 1
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): number()
    case UInt8(ascii: ","):
      if !frames.isEmpty { frames[frames.count - 1].name = nil }
      position += 1
    default: position += 1
    }
  }

  private mutating func open() {
    var frame = Frame(isObject: bytes[position] == UInt8(ascii: "{"))
    position += 1
    if let outer = frames.last {
      frame.protection = protection(in: outer, isContainer: true)
      frame.isFields = outer.isObject ? JSONSecrets.isFields(outer.name) : outer.isFields
      frame.isPairValue = !frame.isObject && (outer.isPairValue || JSONSecrets.isPairValue(outer.name))
    }
    frames.append(frame)
  }

  private mutating func close() {
    guard let frame = frames.popLast() else { return }
    if frame.isPairSecret {
      for range in frame.pairValues { replace(range) }
    } else if frame.isPairValue, !frames.isEmpty {
      frames[frames.count - 1].pairValues += frame.pairValues
    }
  }

  private mutating func string() {
    let start = position + 1
    var end = start
    while end < bytes.count, bytes[end] != UInt8(ascii: "\"") { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
    end = min(end, bytes.count)
    position = min(end + 1, bytes.count)
    var next = position
    while next < bytes.count, bytes[next] <= 0x20 { next += 1 }
    let isName = next < bytes.count && bytes[next] == UInt8(ascii: ":")
    guard let last = frames.indices.last else { return }
    if isName, frames[last].isObject {
      let name = JSONSecrets.decoded(bytes[start..<end])
      frames[last].name = name
      if last == 0, name == Array("$Version".utf8) || name == Array("$EntityContainer".utf8) { isModel = true }
      return
    }
    if !replacesValue(start..<end), let redacted = nestedContent(start..<end) {
      edits.insert(start..<end, redacted, counts: false)
    }
    if frames[last].isObject, JSONSecrets.isPairName(frames[last].name),
      SecretNames.isSecretName(ofPair: JSONSecrets.decoded(bytes[start..<end]))
    {
      frames[last].isPairSecret = true
    }
  }

  private mutating func number() {
    let start = position
    while position < bytes.count, JSONSecrets.isOfNumber(bytes[position]) { position += 1 }
    _ = replacesValue(start..<position)
  }

  /// Replaces a value that is secret, or notes it for the end of its pair.
  private mutating func replacesValue(_ range: Range<Int>) -> Bool {
    guard let last = frames.indices.last else { return false }
    if protection(in: frames[last], isContainer: false) == .secret {
      replace(range)
      return true
    }
    if frames[last].isPairValue || frames[last].isObject && JSONSecrets.isPairValue(frames[last].name) {
      frames[last].pairValues.append(range)
    }
    return false
  }

  private mutating func replace(_ range: Range<Int>) {
    let isString = range.lowerBound > 0 && bytes[range.lowerBound - 1] == UInt8(ascii: "\"")
    guard SecretScan.isSecret(bytes[range]), isString || bytes[range] != [UInt8(ascii: "0")] else { return }
    edits.insert(range, isString ? SecretScan.replacement : [UInt8(ascii: "0")])
  }

  private func protection(in frame: Frame, isContainer: Bool) -> Protection {
    guard frame.isObject else { return frame.protection }
    guard let name = frame.name, frame.protection != .kept else { return frame.protection }
    if frame.protection == .secret { return SecretNames.isControlInformation(name) ? .kept : .secret }
    if frame.isFields {
      let kind = SecretNames.kind(ofField: HTTPFieldName(String(decoding: name, as: UTF8.self)))
      if kind == .credential || kind == .csrfToken { return .secret }
    }
    let isSecret = SecretNames.isSecretMember(name[...]) || isContainer && SecretNames.isSecretCollection(name[...])
    return isSecret ? .secret : .none
  }

  private func nestedContent(_ range: Range<Int>) -> [UInt8]? {
    // Most strings are no documents; of these not even the first character is decoded.
    guard let first = bytes[range].first(where: { $0 > 0x20 }), "{[<\\&".utf8.contains(first),
      let redacted = nested(JSONSecrets.decoded(bytes[range]))
    else { return nil }
    return JSONSecrets.encoded(redacted)
  }

  // MARK: Names

  private static func isFields(_ name: [UInt8]?) -> Bool { isOne(name, of: ["headers", "header", "fields"]) }

  private static func isPairName(_ name: [UInt8]?) -> Bool { isOne(name, of: SecretNames.pairNames) }

  private static func isPairValue(_ name: [UInt8]?) -> Bool { isOne(name, of: SecretNames.pairValues) }

  private static func isOne(_ name: [UInt8]?, of names: Set<String>) -> Bool {
    guard let name, name.count <= 12 else { return false }
    return names.contains(String(decoding: name, as: UTF8.self).lowercased())
  }

  private static func isOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
      UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }

  // MARK: Strings

  /// The characters of a string without its escapes.
  private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
    guard text.contains(UInt8(ascii: "\\")) else { return Array(text) }
    var units: [UInt16] = []
    var scalars = String(decoding: text, as: UTF8.self).utf16.makeIterator()
    while let unit = scalars.next() {
      guard unit == UInt16(UInt8(ascii: "\\")), let escape = scalars.next() else {
        units.append(unit)
        continue
      }
      switch escape {
      case UInt16(UInt8(ascii: "n")): units.append(0x0A)
      case UInt16(UInt8(ascii: "r")): units.append(0x0D)
      case UInt16(UInt8(ascii: "t")): units.append(0x09)
      case UInt16(UInt8(ascii: "b")): units.append(0x08)
      case UInt16(UInt8(ascii: "f")): units.append(0x0C)
      case UInt16(UInt8(ascii: "u")):
        let digits = (0..<4).compactMap { _ in scalars.next() }
        units.append(UInt16(String(decoding: digits, as: UTF16.self), radix: 16) ?? 0xFFFD)
      default: units.append(escape)
      }
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }

  static func encoded(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count + text.count / 8)
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
      case 0x0A: result += Array("\\n".utf8)
      case 0x0D: result += Array("\\r".utf8)
      case 0x09: result += Array("\\t".utf8)
      case 0..<0x20: result += Array("\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
      default: result.append(byte)
      }
    }
    return result
  }
}
