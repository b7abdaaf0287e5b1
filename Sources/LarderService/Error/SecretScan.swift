@_spi(Stores) import LarderCore

/// Replaces the secrets of a text by `***`, in one pass over its bytes, which need not be UTF-8.
///
/// Secrets are the values of options with a secret name, the strings of JSON members and the texts of XML elements with a
/// secret name, and the user information of URLs, which is removed. An option follows `?`, `&`, `#` or `;`, and in a path
/// `(` or `,`, as they are or as an escape of JSON, HTML or a URL, or begins the content, as in a form. Its value ends at white space, `"`, `<`, `>` or `&`; before the query also at `/`, `?`, `#` or `;`; and at
/// `'` if one has begun the text. If the value begins with a literal of OData in `'`, it ends after the literal.
///
/// Text between white space is a URL, in which options are replaced, if a slash or a quotation mark precedes the option, or
/// if the text begins with `?`, or if it begins the content, a string or an element. `Is 1?code=2` is none.
struct SecretScan {
  private let bytes: [UInt8]
  /// The content is one URL, with whatever characters.
  private let isURL: Bool
  private var result: [UInt8] = []
  /// Where the bytes begin that the result does not have yet.
  private var copied = 0
  private var index = 0
  private var start = 0
  private var looksLikeURL = true
  private var isPath = true
  /// A `'` has begun a string, and none has ended it.
  private var isQuoted = false
  private var name: [UInt8] = []
  /// The parameter aliases, such as `@p`, that secret arguments of the text have as their values.
  private var aliases: Set<[UInt8]> = []

  private init(_ bytes: [UInt8], isURL: Bool) {
    self.bytes = bytes
    self.isURL = isURL
  }

  /// A URL without secrets.
  static func url(_ text: String) -> String { String(decoding: scan(Array(text.utf8), isURL: true), as: UTF8.self) }

  /// A text with URLs and JSON, without secrets.
  static func content(_ bytes: [UInt8]) -> [UInt8] { scan(bytes, isURL: false) }

  private static func scan(_ bytes: [UInt8], isURL: Bool) -> [UInt8] {
    var scan = SecretScan(bytes, isURL: isURL)
    if !isURL { scan.replaceFirstOption() }
    while scan.index < bytes.count { scan.step() }
    return scan.copied == 0 ? bytes : scan.result + bytes[scan.copied...]
  }

  /// The first option of form content, such as `access_token=a&b=c`.
  private mutating func replaceFirstOption() {
    isPath = false
    if let value = secretOption(at: 0), !value.isEmpty { replace(value, by: Array("***".utf8)) }
    isPath = true
  }

  private mutating func step() {
    let unit = unit(at: index)
    let end = index + unit.length
    defer { index = max(index, end) }
    switch unit.byte {
    case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"), UInt8(ascii: ";"):
      if unit.byte == UInt8(ascii: "?"), index == start { looksLikeURL = true }
      if unit.byte != UInt8(ascii: ";") { isPath = false }
      if let value = secretOption(at: end), !value.isEmpty { replace(value, by: Array("***".utf8)) }
    case UInt8(ascii: "("), UInt8(ascii: ","):
      if isPath, let value = secretOption(at: end, isArgument: true), !value.isEmpty {
        replace(value, by: Array("***".utf8))
      }
    case UInt8(ascii: ":"):
      if let user = userInformation(at: end, isEncoded: unit.isPercent) { replace(user, by: []) }
    case UInt8(ascii: "/"):
      looksLikeURL = true
      if index == start, let user = userInformation(at: index, isEncoded: unit.isPercent) { replace(user, by: []) }
    case _ where isURL || unit.isPercent: break
    case UInt8(ascii: "'"):
      looksLikeURL = true
      isQuoted.toggle()
    case UInt8(ascii: "\""):
      if let value = secretString(at: end, opening: QuotationMark(bytes[index..<end])), !value.isEmpty {
        replace(value, by: Array("***".utf8))
      }
      begin(at: end, looksLikeURL: true)
    case UInt8(ascii: "<"):
      if let value = secretElement(at: end) { replace(value, by: Array("***".utf8)) }
      begin(at: max(index, end), looksLikeURL: true)
    case UInt8(ascii: ">"): begin(at: end, looksLikeURL: true)
    case 0...0x20: begin(at: end, looksLikeURL: false)
    default: break
    }
  }

  private mutating func begin(at start: Int, looksLikeURL: Bool) {
    (self.start, self.looksLikeURL, isPath, isQuoted) = (start, looksLikeURL, true, false)
    if !aliases.isEmpty { aliases = [] }
  }

  private mutating func replace(_ range: Range<Int>, by replacement: [UInt8]) {
    result += bytes[copied..<range.lowerBound]
    result += replacement
    (copied, index) = (range.upperBound, range.upperBound)
  }

  // MARK: Characters

  /// The character at a position, and how many bytes it has: `%26`, `\u0026`, `\/` and `\"` are characters too.
  private func unit(at index: Int) -> (byte: UInt8, length: Int, isPercent: Bool) {
    let byte = bytes[index]
    if byte == UInt8(ascii: "%"), let value = number(at: index + 1, digits: 2) { return (value, 3, true) }
    guard byte == UInt8(ascii: "\\") else { return (byte, 1, false) }
    var end = index + 1
    // JSON inside JSON has several.
    while end < bytes.count, bytes[end] == byte { end += 1 }
    let length = end - index + 1
    switch end < bytes.count ? bytes[end] : 0 {
    case UInt8(ascii: "\""): return (UInt8(ascii: "\""), length, false)
    case UInt8(ascii: "/"): return (UInt8(ascii: "/"), length, false)
    case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"): return (0x0A, length, false)
    case UInt8(ascii: "u"):
      guard number(at: end + 1, digits: 2) == 0, let value = number(at: end + 3, digits: 2) else { fallthrough }
      return (value, length + 4, false)
    default: return (byte, length - 1, false)
    }
  }

  private func number(at index: Int, digits: Int) -> UInt8? {
    guard index + digits <= bytes.count else { return nil }
    return Hexadecimal.bytes(bytes[index..<index + digits])?.first
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "$"):
      true
    default: false
    }
  }

  /// The most bytes of a name.
  private static let nameLimit = 64

  // MARK: Secrets

  /// The value of the option at a position, if its name is secret.
  ///
  /// - Parameter isArgument: whether it is an argument of a function in a path, or a key of an entity: data.
  private mutating func secretOption(at start: Int, isArgument: Bool = false) -> Range<Int>? {
    guard looksLikeURL else { return nil }
    name.removeAll(keepingCapacity: true)
    var position = start
    var isEncoded: Bool?
    while position < bytes.count, name.count <= SecretScan.nameLimit, isEncoded == nil {
      let unit = unit(at: position)
      position += unit.length
      if unit.byte == UInt8(ascii: "=") {
        isEncoded = unit.isPercent
      } else if SecretScan.isOfName(unit.byte) || (unit.byte == UInt8(ascii: "@") && name.isEmpty && !isArgument) {
        name.append(unit.byte)
      } else {
        return nil
      }
    }
    let isAlias = aliases.contains(name)
    guard let isEncoded,
      isAlias || (isArgument ? SecretNames.hasMember(name[...]) : SecretNames.hasOption(name))
    else { return nil }
    let begin = position
    let literalEnd = self.literalEnd(at: position)
    if let literalEnd { position = literalEnd }
    while position < bytes.count {
      let unit = unit(at: position)
      if ends(unit.byte, isPercent: unit.isPercent, isEncoded: isEncoded) { break }
      if isArgument, unit.byte == UInt8(ascii: ",") || unit.byte == UInt8(ascii: ")") { break }
      position += unit.length
    }
    if isArgument, let alias = alias(in: begin..<position) { aliases.insert(alias) }
    return position == literalEnd && !isAlias && SecretNames.isHarmless(name) ? nil : begin..<position
  }

  /// The parameter alias that is the value of an argument, as in `Login(password=@p)?@p='…'`.
  private func alias(in range: Range<Int>) -> [UInt8]? {
    var alias: [UInt8] = []
    var position = range.lowerBound
    while position < range.upperBound, alias.count <= SecretScan.nameLimit {
      let unit = unit(at: position)
      guard alias.isEmpty ? unit.byte == UInt8(ascii: "@") : SecretScan.isOfName(unit.byte) else { return nil }
      alias.append(unit.byte)
      position += unit.length
    }
    return alias.count > 1 ? alias : nil
  }

  /// Where the literal in `'` at a position ends, which has `''` for one `'`.
  private func literalEnd(at start: Int) -> Int? {
    // In `href='a?token='` the literal is that of the text.
    guard let opening = quoteLength(at: start), !isQuoted || bytes[start] != UInt8(ascii: "'") else { return nil }
    var position = start + opening
    while position < bytes.count {
      let unit = unit(at: position)
      if let length = quoteLength(at: position) {
        position += length
        guard let second = quoteLength(at: position) else { return position }
        position += second
      } else if !isURL, !unit.isPercent, SecretScan.endsLine(unit.byte) {
        return nil
      } else {
        position += unit.length
      }
    }
    return nil
  }

  /// Whether a character ends a string, an element or a line, and with it every literal.
  private static func endsLine(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
  }

  /// The length of the `'` at a position, as it is or as an escape of JSON, HTML or a URL.
  private func quoteLength(at position: Int) -> Int? {
    guard position < bytes.count else { return nil }
    let unit = unit(at: position)
    if unit.byte == UInt8(ascii: "'") { return unit.length }
    guard unit.byte == UInt8(ascii: "&"), !isURL else { return nil }
    let rest = bytes[(position + unit.length)...]
    return SecretScan.quotesOfHTML.first { rest.starts(with: $0) }.map { unit.length + $0.count }
  }

  private static let quotesOfHTML = ["#39;", "#x27;", "apos;"].map { Array($0.utf8) }

  /// Whether a character ends the value of an option, whose equals sign may be percent-encoded: then an option has a URL as
  /// its value.
  private func ends(_ byte: UInt8, isPercent: Bool, isEncoded: Bool) -> Bool {
    guard isEncoded || !isPercent else { return false }
    switch byte {
    case UInt8(ascii: "&"): return true
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: ";"): return isPath
    case 0...0x20, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"): return !isURL
    case UInt8(ascii: "'"): return isQuoted
    default: return false
    }
  }

  /// The user information, with the at sign, of a URL with a colon before the position.
  ///
  /// - Parameter isEncoded: whether the colon is percent-encoded.
  private func userInformation(at start: Int, isEncoded: Bool) -> Range<Int>? {
    var position = start
    for _ in 0..<2 {
      guard position < bytes.count else { return nil }
      let slash = unit(at: position)
      guard slash.byte == UInt8(ascii: "/") else { return nil }
      position += slash.length
    }
    let begin = position
    var end: Int?
    while position < bytes.count {
      let unit = unit(at: position)
      if endsAuthority(unit.byte, at: position, isPercent: unit.isPercent, isEncoded: isEncoded) { break }
      position += unit.length
      if unit.byte == UInt8(ascii: "@") { end = position }
    }
    return end.map { begin..<$0 }
  }

  /// Whether a character ends the authority of a URL. A URL in the query ends where its option or literal ends; the user
  /// information of other URLs can have `&` and `'`, and most characters in encoded form.
  private func endsAuthority(_ byte: UInt8, at position: Int, isPercent: Bool, isEncoded: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): true
    case UInt8(ascii: "&"): isPath ? !isURL && !isPercent && beginsEntity(at: position + 1) : isEncoded || !isPercent
    case UInt8(ascii: "'"): isPath ? isQuoted && !isPercent : true
    case 0...0x20, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"): isPath ? !isURL && !isPercent : true
    default: false
    }
  }

  /// Whether a character of HTML, other than `&amp;`, is written after an ampersand before the position, as in `&quot;`.
  private func beginsEntity(at position: Int) -> Bool {
    let rest = bytes[position...].prefix(8)
    guard let end = rest.firstIndex(of: UInt8(ascii: ";")), end > position else { return false }
    return rest[..<end].allSatisfy { $0 == UInt8(ascii: "#") || SecretScan.isOfName($0) }
      && !rest.starts(with: "amp;".utf8) && !rest.starts(with: "#38;".utf8)
  }

  /// The text of the XML element whose name begins at a position, if its local name is secret, and it has only text.
  private func secretElement(at start: Int) -> Range<Int>? {
    var position = start
    var localName = start
    while position < bytes.count, position - start < 2 * SecretScan.nameLimit {
      if bytes[position] == UInt8(ascii: ":") {
        localName = position + 1
      } else if !SecretScan.isOfName(bytes[position]) {
        break
      }
      position += 1
    }
    let name = start..<position
    guard localName < position, SecretNames.hasMember(bytes[localName..<position]),
      let begin = endOfTag(at: position)
    else { return nil }
    position = begin
    var isBlank = true
    while position < bytes.count {
      let unit = unit(at: position)
      if unit.byte == UInt8(ascii: "<"), !unit.isPercent { break }
      if unit.byte > 0x20 { isBlank = false }
      position += unit.length
    }
    guard position < bytes.count else { return nil }
    let inside = position + unit(at: position).length
    if isBlank, bytes[inside...].starts(with: "![CDATA[".utf8) { return begin..<endOfCharacters(at: inside) }
    guard !isBlank, inside < bytes.count, unit(at: inside).byte == UInt8(ascii: "/") else { return nil }
    let closing = inside + unit(at: inside).length
    return bytes[closing...].starts(with: bytes[name]) ? begin..<position : nil
  }

  /// Where the text begins after the rest of a start tag; nil if there is no text.
  private func endOfTag(at start: Int) -> Int? {
    var position = start
    var last = UInt8(ascii: " ")
    while position < bytes.count {
      let unit = unit(at: position)
      position += unit.length
      switch unit.byte {
      case _ where unit.isPercent: break
      case UInt8(ascii: "<"): return nil
      case UInt8(ascii: ">"): return last == UInt8(ascii: "/") ? nil : position
      default: break
      }
      last = unit.byte
    }
    return nil
  }

  /// Where characters end that `]]>` ends.
  private func endOfCharacters(at start: Int) -> Int {
    var brackets = 0
    var position = start
    while position < bytes.count {
      let unit = unit(at: position)
      position += unit.length
      if unit.byte == UInt8(ascii: ">"), brackets >= 2 { return position }
      brackets = unit.byte == UInt8(ascii: "]") ? brackets + 1 : 0
    }
    return position
  }

  /// The string of the JSON member whose name begins at a position, if the name is secret.
  ///
  /// - Parameter opening: the quotation mark before the name; JSON inside JSON has others than JSON.
  private func secretString(at start: Int, opening: QuotationMark) -> Range<Int>? {
    var position = start
    while position < bytes.count, position - start < SecretScan.nameLimit, SecretScan.isOfName(bytes[position]) {
      position += 1
    }
    let name = start..<position
    func skipSpaces() { while position < bytes.count, bytes[position] <= 0x20 { position += 1 } }
    func skip(_ byte: UInt8) -> Bool {
      guard position < bytes.count else { return false }
      let unit = unit(at: position)
      let end = position + unit.length
      guard unit.byte == byte, byte != UInt8(ascii: "\"") || QuotationMark(bytes[position..<end]) == opening else {
        return false
      }
      position = end
      return true
    }
    guard !name.isEmpty, skip(UInt8(ascii: "\"")) else { return nil }
    skipSpaces()
    guard skip(UInt8(ascii: ":")) else { return nil }
    skipSpaces()
    guard skip(UInt8(ascii: "\"")), SecretNames.hasMember(bytes[name]) else { return nil }
    let begin = position
    while position < bytes.count {
      let unit = unit(at: position)
      let end = position + unit.length
      if unit.byte == UInt8(ascii: "\""), !unit.isPercent {
        let mark = QuotationMark(bytes[position..<end])
        // Without a backslash, it ends the outermost JSON.
        if mark.isPlain { return begin..<position }
        if let more = mark.backslashesOfString(opening) { return begin..<position + more }
      }
      position = end
    }
    return begin..<position
  }
}

/// A quotation mark of JSON, or of JSON inside JSON: `"`, `\"`, `\\\"`, `\u0022`, `\\u0022`.
private struct QuotationMark: Equatable {
  private let backslashes: Int
  private let isCode: Bool

  init(_ bytes: ArraySlice<UInt8>) {
    isCode = bytes.last != UInt8(ascii: "\"")
    backslashes = bytes.count - (isCode ? "u0022".count : 1)
  }

  var isPlain: Bool { !isCode && backslashes == 0 }

  /// The backslashes at the end of a string, if this mark ends the string that another has begun.
  ///
  /// A mark of the string itself is escaped once more. Backslashes of the string are pairs, and each one is as many as the
  /// JSON around it makes of it.
  func backslashesOfString(_ opening: QuotationMark) -> Int? {
    let more = backslashes - opening.backslashes
    let width = opening.isCode ? 2 * opening.backslashes : opening.backslashes + 1
    return isCode == opening.isCode && more >= 0 && more.isMultiple(of: 2 * width) ? more : nil
  }
}
