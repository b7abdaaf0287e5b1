import LarderHTTP

/// Replaces what the structure of XML shows to be secret, also in XML that ends early, and in HTML.
///
/// Secret are texts in an element with a secret name, at any depth, attributes with a secret name, and the value beside a
/// name that is a secret name: in two attributes, in an attribute and the text, or in two elements. Metadata documents
/// stay: they have no values.
struct XMLSecrets: ContentSecrets {
  private struct Element {
    let name: [UInt8]
    /// The texts in it are secret.
    var isSecret = false
    /// The texts in its children are secret: it is a collection.
    var isCollection = false
    var isKept = false
    /// The name of a pair, in one of its children, is secret.
    var isPairSecret = false
    /// The texts of its children that are the value of a pair.
    var pairValues: [Range<Int>] = []
  }

  let bytes: [UInt8]
  /// Redacts JSON and XML in texts; nil if nothing changes.
  private let nested: ([UInt8]) -> [UInt8]?
  var edits = SecretEdits()
  private var elements: [Element] = []
  /// How many open elements have each name.
  private var counts: [[UInt8]: Int] = [:]
  var position = 0
  var isModel = false

  init(_ bytes: [UInt8], _ nested: @escaping ([UInt8]) -> [UInt8]?) {
    self.bytes = bytes
    self.nested = nested
  }

  mutating func closeAll() { while !elements.isEmpty { close() } }

  mutating func step() {
    let rest = bytes[position...]
    if rest.first != UInt8(ascii: "<") {
      let end = rest.firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
      text(position..<end, isEscaped: true)
      position = end
    } else if rest.starts(with: "<![CDATA[".utf8) {
      let end = self.end(of: "]]>", from: position + 9)
      text(position + 9..<max(position + 9, end), isEscaped: false)
      position = min(end + 3, bytes.count)
    } else if rest.starts(with: "<!--".utf8) {
      position = min(end(of: "-->", from: position + 4) + 3, bytes.count)
    } else if rest.starts(with: "</".utf8) {
      let end = self.end(of: ">", from: position)
      endTag(bytes[position + 2..<max(position + 2, end)])
      position = min(end + 1, bytes.count)
    } else if let first = rest.dropFirst().first, first != UInt8(ascii: "!"), first != UInt8(ascii: "?") {
      startTag()
    } else {
      position = min(end(of: ">", from: position) + 1, bytes.count)
    }
  }

  private func end(of mark: StaticString, from start: Int) -> Int {
    let characters = mark.withUTF8Buffer { Array($0) }
    var index = min(start, bytes.count)
    while index < bytes.count {
      if bytes[index] == characters[0], bytes[index...].starts(with: characters) { return index }
      index += 1
    }
    return bytes.count
  }

  // MARK: Elements

  private mutating func startTag() {
    position += 1
    let name = name()
    var element = Element(name: name)
    let localName = XMLSecrets.localName(name)
    if elements.isEmpty, ["Edmx", "Schema"].contains(String(decoding: localName, as: UTF8.self)) { isModel = true }
    if let outer = elements.last {
      element.isKept = outer.isKept
      element.isSecret = outer.isSecret || outer.isCollection
      if element.isSecret, SecretNames.isControlInformation(localName) { element.isKept = true }
    }
    if SecretNames.isSecretMember(localName[...]) { element.isSecret = true }
    if SecretNames.isSecretCollection(localName[...]) { element.isCollection = true }
    if attributes() { element.isSecret = true }
    let isEmpty = position > 0 && bytes[position - 1] == UInt8(ascii: "/")
    position = min(position + 1, bytes.count)
    guard !isEmpty else { return }
    elements.append(element)
    counts[name, default: 0] += 1
  }

  /// Reads the attributes up to the end of the tag. Returns whether one of them is the name of a secret pair whose value
  /// is the text.
  private mutating func attributes() -> Bool {
    var isPairSecret = false
    var pairValue: Range<Int>?
    while position < bytes.count, bytes[position] != UInt8(ascii: ">"), bytes[position] != UInt8(ascii: "<") {
      let start = position
      let name = XMLSecrets.localName(name())
      // Quotation marks in a value of HTML can end it early: what follows is no attribute.
      guard let first = name.first, first >= UInt8(ascii: "A"), name.allSatisfy(SecretScan.isOfName) else {
        position = max(position, start + 1)
        continue
      }
      guard let range = attributeValue() else { continue }
      let lowerName = String(decoding: name.prefix(16), as: UTF8.self).lowercased()
      if SecretNames.isSecretMember(name[...]) { replace(range) }
      if SecretNames.pairNames.contains(lowerName) {
        isPairSecret = isPairSecret || SecretNames.isSecretName(ofPair: XMLSecrets.decoded(bytes[range]))
      } else if lowerName == "type", Array(bytes[range]) == Array("password".utf8) {
        // A form of HTML.
        isPairSecret = true
      } else if SecretNames.pairValues.contains(lowerName) {
        pairValue = range
      }
    }
    guard isPairSecret else { return false }
    if let pairValue { replace(pairValue) }
    return pairValue == nil
  }

  private mutating func name() -> [UInt8] {
    while position < bytes.count, bytes[position] <= 0x20 { position += 1 }
    let start = position
    while position < bytes.count, bytes[position] > 0x20, !"=>/<\"'".utf8.contains(bytes[position]) { position += 1 }
    return Array(bytes[start..<position])
  }

  private mutating func attributeValue() -> Range<Int>? {
    while position < bytes.count, bytes[position] <= 0x20 { position += 1 }
    guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else { return nil }
    position += 1
    while position < bytes.count, bytes[position] <= 0x20 { position += 1 }
    guard position < bytes.count else { return nil }
    let quote = bytes[position]
    guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      let start = position
      while position < bytes.count, bytes[position] > 0x20, !">\"'".utf8.contains(bytes[position]) { position += 1 }
      return start..<position
    }
    let start = position + 1
    let end = bytes[start...].firstIndex(of: quote) ?? bytes.count
    position = min(end + 1, bytes.count)
    return start..<end
  }

  private mutating func endTag(_ text: ArraySlice<UInt8>) {
    let name = Array(text.prefix { $0 > 0x20 })
    guard counts[name, default: 0] > 0 else { return }
    while let last = elements.last {
      close()
      if last.name == name { return }
    }
  }

  private mutating func close() {
    guard let element = elements.popLast() else { return }
    counts[element.name, default: 0] -= 1
    if element.isPairSecret { for range in element.pairValues { replace(range) } }
  }

  // MARK: Texts

  private mutating func text(_ range: Range<Int>, isEscaped: Bool) {
    guard let last = elements.indices.last, bytes[range].contains(where: { $0 > 0x20 }) else { return }
    if elements[last].isSecret, !elements[last].isKept { return replace(range) }
    let content = isEscaped ? XMLSecrets.decoded(bytes[range]) : Array(bytes[range])
    if let redacted = nested(content) {
      edits.insert(range, isEscaped ? XMLSecrets.encoded(redacted) : redacted, counts: false)
      return
    }
    guard last > 0 else { return }
    let name = String(decoding: XMLSecrets.localName(elements[last].name).prefix(16), as: UTF8.self).lowercased()
    if SecretNames.pairNames.contains(name), SecretNames.isSecretName(ofPair: content) {
      elements[last - 1].isPairSecret = true
    } else if SecretNames.pairValues.contains(name) {
      elements[last - 1].pairValues.append(range)
    }
  }

  /// Replaces a text without the white space around it.
  private mutating func replace(_ range: Range<Int>) {
    let text = bytes[range]
    guard let first = text.firstIndex(where: { $0 > 0x20 }), let last = text.lastIndex(where: { $0 > 0x20 }),
      SecretScan.isSecret(bytes[first...last])
    else { return }
    let replacement = SecretScan.replacement(ofText: bytes[first...last])
    if !bytes[first...last].elementsEqual(replacement) { edits.insert(first..<last + 1, replacement) }
  }

  private static func localName(_ name: [UInt8]) -> [UInt8] {
    name.lastIndex(of: UInt8(ascii: ":")).map { Array(name[($0 + 1)...]) } ?? name
  }

  /// A placeholder for the ampersand of an entity that is not decoded; XML cannot contain it.
  private static let otherEntity: UInt8 = 1
  private static let entities: [(text: String, character: UInt8)] = [
    ("&lt;", UInt8(ascii: "<")), ("&gt;", UInt8(ascii: ">")), ("&quot;", UInt8(ascii: "\"")),
    ("&apos;", UInt8(ascii: "'")), ("&#39;", UInt8(ascii: "'")), ("&#34;", UInt8(ascii: "\"")),
    ("&#x22;", UInt8(ascii: "\"")), ("&#x27;", UInt8(ascii: "'")), ("&#60;", UInt8(ascii: "<")),
    ("&#x3c;", UInt8(ascii: "<")), ("&#x3C;", UInt8(ascii: "<")), ("&amp;", UInt8(ascii: "&")),
  ]

  private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
    guard text.contains(UInt8(ascii: "&")) else { return Array(text) }
    var result: [UInt8] = []
    var index = text.startIndex
    while index < text.endIndex {
      let isEntity = text[index] == UInt8(ascii: "&")
      let entity = isEntity ? entities.first { text[index...].starts(with: $0.text.utf8) } : nil
      result.append(entity?.character ?? (isEntity ? otherEntity : text[index]))
      index += entity?.text.utf8.count ?? 1
    }
    return result
  }

  private static func encoded(_ text: [UInt8]) -> [UInt8] {
    text.flatMap { byte -> [UInt8] in
      switch byte {
      case otherEntity: [UInt8(ascii: "&")]
      case UInt8(ascii: "&"): Array("&amp;".utf8)
      case UInt8(ascii: "<"): Array("&lt;".utf8)
      case UInt8(ascii: ">"): Array("&gt;".utf8)
      default: [byte]
      }
    }
  }
}
