/// Indents XML by its tags, without validating the document.
///
/// White space changes only between tags with no other text between them. Text, and what follows it in its element,
/// stays as received. One pass over the bytes.
struct XMLIndenter {
  private let bytes: [UInt8]
  private var position = 0
  private var out: [UInt8] = []
  /// For each open element, whether its content has text: then nothing in it is moved.
  private var isMixed: [Bool] = []
  private var lastWasStart = false

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The indented document with a line feed at its end; nil if the tags do not match.
  static func indent(_ bytes: [UInt8]) -> [UInt8]? {
    var indenter = XMLIndenter(bytes)
    return indenter.run() ? indenter.out : nil
  }

  private mutating func run() -> Bool {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    while position < bytes.count {
      let text = takeText()
      guard position < bytes.count else { return isMixed.isEmpty && finish(text) }
      if !isBlank(text) {
        guard !isMixed.isEmpty else { return false }
        isMixed[isMixed.count - 1] = true
        out.append(contentsOf: text)
      } else if isMixed.last ?? false {
        out.append(contentsOf: text)
      }
      guard let markup = takeMarkup(), write(markup, after: text) else { return false }
    }
    return isMixed.isEmpty && finish([])
  }

  private mutating func write(_ markup: ArraySlice<UInt8>, after text: ArraySlice<UInt8>) -> Bool {
    let mixed = isMixed.last ?? false
    if markup.starts(with: "</".utf8) {
      guard !isMixed.isEmpty else { return false }
      isMixed.removeLast()
      if !mixed, !lastWasStart { newLine() } else if !mixed, lastWasStart { out.append(contentsOf: text) }
      out.append(contentsOf: markup)
      lastWasStart = false
      return true
    }
    if markup.starts(with: "<![CDATA[".utf8) {
      guard !isMixed.isEmpty else { return false }
      if !mixed { out.append(contentsOf: text) }
      isMixed[isMixed.count - 1] = true
      out.append(contentsOf: markup)
      lastWasStart = false
      return true
    }
    if !mixed, !out.isEmpty { newLine() }
    out.append(contentsOf: markup)
    let second = markup.dropFirst().first
    let isElement = second != UInt8(ascii: "?") && second != UInt8(ascii: "!")
    lastWasStart = isElement && !markup.dropLast().hasSlashAtEnd
    if lastWasStart { isMixed.append(false) }
    return true
  }

  private mutating func finish(_ text: ArraySlice<UInt8>) -> Bool {
    guard isBlank(text), !out.isEmpty else { return false }
    out.append(0x0A)
    return true
  }

  private mutating func newLine() {
    out.append(0x0A)
    // Deeper indentation would not help on a terminal, and the spaces would grow with the square of the depth.
    out.append(contentsOf: repeatElement(0x20, count: 2 * min(isMixed.count, 32)))
  }

  private mutating func takeText() -> ArraySlice<UInt8> {
    let start = position
    while position < bytes.count, bytes[position] != UInt8(ascii: "<") { position += 1 }
    return bytes[start..<position]
  }

  private mutating func takeMarkup() -> ArraySlice<UInt8>? {
    for (begin, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")]
    where bytes[position...].starts(with: begin.utf8) {
      return take(through: Array(end.utf8), from: position + begin.utf8.count)
    }
    // A document type may contain brackets of its own, which this indenter does not support.
    if bytes[position...].starts(with: "<!".utf8) { return nil }
    let start = position
    var quote: UInt8?
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: ">") {
        return bytes[start..<position]
      }
    }
    return nil
  }

  private mutating func take(through end: [UInt8], from first: Int) -> ArraySlice<UInt8>? {
    let start = position
    var at = first
    while at + end.count <= bytes.count {
      if bytes[at] == end[0], bytes[at..<at + end.count].elementsEqual(end) {
        position = at + end.count
        return bytes[start..<position]
      }
      at += 1
    }
    return nil
  }

  private func isBlank(_ text: ArraySlice<UInt8>) -> Bool {
    text.allSatisfy { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
  }
}

extension ArraySlice<UInt8> {
  fileprivate var hasSlashAtEnd: Bool { last == UInt8(ascii: "/") }
}
