import LarderOData
import LarderTestSupport

/// Documents made of the words that a reader knows, at places where no service puts them.
struct RandomInput {
  /// What is read as.
  enum Kind: CaseIterable {
    case payload, metadataJSON, metadataXML, atom, multipart, batchJSON
  }

  var random: PrintedSeed

  init(seed: UInt64) { random = PrintedSeed(seed: seed) }

  mutating func document(_ kind: Kind) -> [UInt8] {
    switch kind {
    case .payload: json(payload(depth: 0))
    case .metadataJSON: json(.object([.init("$Version", .string("4.01"))] + members(RandomWords.csdlJSON, depth: 0)))
    case .metadataXML: Array(metadataXML().utf8)
    case .atom: Array(xml(RandomWords.atomRoots, RandomWords.atom, RandomWords.atomAttributes).utf8)
    case .multipart: Array(multipart().utf8)
    case .batchJSON:
      json(.object([.init(one(of: ["requests", "responses"]), value(RandomWords.batchJSON, depth: 1, likes: .array))]))
    }
  }

  mutating func one<Item>(of items: [Item]) -> Item { items[Int.random(in: 0..<items.count, using: &random)] }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  // MARK: JSON

  private enum Shape { case array, object, any }

  private func json(_ node: JSONNode) -> [UInt8] {
    var writer = JSONWriter()
    writer.node(node)
    return writer.bytes
  }

  /// Rows in the envelope of some version, or an object alone.
  private mutating func payload(depth: Int) -> JSONNode {
    let words = RandomWords.payload
    let rows = value(words, depth: 1, likes: .array)
    let context = JSONNode.Member(one(of: RandomWords.contextNames), .string(one(of: RandomWords.contexts)))
    let others = chance(50) ? members(words, depth: 1) : []
    switch Int.random(in: 0...5, using: &random) {
    case 0: return .object([.init("d", .object([.init("results", rows)] + others))])
    case 1: return .object([.init("d", value(words, depth: 1, likes: .any))] + others)
    case 2, 3: return .object([context, .init("value", rows)] + others)
    case 4: return .object([context] + members(words, depth: 0))
    default: return value(words, depth: 0, likes: .any)
    }
  }

  /// Members, mostly of different names.
  private mutating func members(_ words: [String], depth: Int) -> [JSONNode.Member] {
    var members: [JSONNode.Member] = []
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      let name = one(of: words)
      if members.contains(where: { $0.name == name }), chance(95) { continue }
      members.append(.init(name, value(words, depth: depth + 1, likes: .any)))
    }
    return members
  }

  private mutating func value(_ words: [String], depth: Int, likes shape: Shape) -> JSONNode {
    let isNested = depth < 6 && chance(55)
    if shape == .array && chance(95) || isNested && chance(40) {
      return .array(
        (0..<Int.random(in: 0...3, using: &random)).map { _ in value(words, depth: depth + 1, likes: .object) })
    }
    if shape == .object && depth < 6 && chance(85) || isNested { return .object(members(words, depth: depth)) }
    switch Int.random(in: 0...9, using: &random) {
    case 0: return .null
    case 1: return .boolean(chance(50))
    case 2, 3: return .number(one(of: RandomWords.numbers))
    default: return .string(one(of: RandomWords.texts))
    }
  }

  // MARK: XML

  private mutating func metadataXML() -> String {
    let namespace = one(of: RandomWords.schemaNamespaces)
    let schema = element("Schema", RandomWords.csdlXML, RandomWords.csdlAttributes, depth: 0)
      .replacing("<Schema", with: "<Schema xmlns=\"\(namespace)\"", maxReplacements: 1)
    return "<edmx:Edmx Version=\"\(one(of: ["1.0", "4.0", "4.01", ""]))\" xmlns:edmx=\""
      + "\(one(of: RandomWords.wrapperNamespaces))\"><edmx:DataServices>\(schema)</edmx:DataServices></edmx:Edmx>"
  }

  private mutating func xml(_ roots: [String], _ words: [String], _ attributes: [String]) -> String {
    let root = one(of: roots)
    let fourth = chance(50)
    let namespaces =
      "xmlns:a=\"http://www.w3.org/2005/Atom\" xmlns:app=\"http://www.w3.org/2007/app\" xmlns:t=\"http://purl.org/atompub/tombstones/1.0\" "
      + "xmlns:gml=\"http://www.opengis.net/gml\" xmlns:d=\""
      + (fourth ? "http://docs.oasis-open.org/odata/ns/data" : "http://schemas.microsoft.com/ado/2007/08/dataservices")
      + "\" xmlns:m=\""
      + (fourth
        ? "http://docs.oasis-open.org/odata/ns/metadata"
        : "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata") + "\""
    return element(root, words, attributes, depth: 0)
      .replacing("<\(root)", with: "<\(root) \(namespaces)", maxReplacements: 1)
  }

  private mutating func element(_ name: String, _ words: [String], _ attributes: [String], depth: Int) -> String {
    var text = "<" + name
    var taken: Set<String> = []
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      let attribute = one(of: attributes)
      guard taken.insert(attribute).inserted else { continue }
      text += " \(attribute)=\"\(one(of: RandomWords.texts + RandomWords.numbers).replacing("\"", with: "&quot;"))\""
    }
    text += ">"
    if depth < 7 {
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        text += element(one(of: words), words, attributes, depth: depth + 1)
      }
    }
    if chance(40) { text += one(of: RandomWords.texts + RandomWords.numbers) }
    return text + "</\(name)>"
  }

  // MARK: Batches

  private mutating func multipart() -> String {
    (0..<Int.random(in: 1...14, using: &random)).map { _ in
      one(of: RandomWords.batchLines) + (chance(90) ? "\r\n" : "\n")
    }.joined()
  }
}
