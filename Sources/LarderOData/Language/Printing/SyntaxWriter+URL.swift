@_spi(Stores) import LarderHTTP

// URLs, the paths of resources, and context fragments.
extension SyntaxWriter {
  mutating func url(_ url: ODataURL) throws(ODataPrintingError) {
    if let root = url.serviceRoot { try serviceRoot(root, isAll: url.resource == .service) }
    var fragment: ODataContextFragment?
    var place = OptionPlace.url
    switch url.resource {
    case .service: place = .metadata
    case .batch:
      raw("$batch")
      place = .batch
    case .metadata(let context):
      raw("$metadata")
      fragment = context
      place = .metadata
    case .entity(let type):
      try demandV4("$entity")
      guard url.options.id != nil else {
        throw error(.misplaced("$entity without $id", expected: "the entity's URL in the option $id"))
      }
      raw("$entity")
      place = type == nil ? .entity : .entityCast
      if let type {
        raw("/")
        try qualifiedName(type, "name of an entity type")
      }
    case .path(let path): try resourcePath(path)
    }
    if !url.options.isEmpty {
      raw("?")
      try queryOptions(url.options, in: place)
    }
    guard let fragment else { return }
    raw("#")
    let outer = self.place
    self.place = .fragment
    try contextFragment(fragment)
    self.place = outer
  }

  /// Writes a service's root. It is already a URL: it is checked, not encoded.
  private mutating func serviceRoot(_ root: String, isAll: Bool) throws(ODataPrintingError) {
    let plain = (PercentEncoding.decode(root) ?? root).lowercased()
    let begins = ["http://", "https://", "/"].contains { plain.hasPrefix($0) }
    let isClean = root.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"?#\"<>\\^`{|}".utf8.contains($0) }
    guard begins, isClean, isAll || root.utf8.last == UInt8(ascii: "/") else {
      throw error(
        .invalidName(root, expected: "root of a service; it must start with http://, https:// or / and end with /"))
    }
    raw(root)
  }

  /// `resourcePath`
  mutating func resourcePath(_ path: ODataPath) throws(ODataPrintingError) {
    let start = bytes.count
    guard path.root == .implicit, let first = path.segments.first else {
      throw error(.misplaced("a resource path with a root, or without steps", expected: "a set, singleton or import"))
    }
    switch first.kind {
    case .name, .crossjoin, .allEntities: break
    default: throw error(.misplaced("\(first.label) at the start", expected: "a set, singleton or import"))
    }
    for (index, segment) in path.segments.enumerated() {
      if case .arguments(let arguments) = segment.kind {
        guard index > 0, path.segments[index - 1].acceptsResourceArguments else {
          throw error(.misplaced("arguments", expected: "arguments after a name"))
        }
        try self.arguments(arguments, inExpression: false)
        continue
      }
      if index > 0 { raw("/") }
      try resourceStep(segment, isFirst: index == 0)
    }
    try checkOrder(from: start) { (reader) throws(ODataSyntaxError) in _ = try reader.resourcePath() }
  }

  /// Checks the order of the steps: the parser reads what was written.
  private func checkOrder(
    from start: Int, _ rule: (inout SyntaxReader) throws(ODataSyntaxError) -> Void
  ) throws(ODataPrintingError) {
    let text = String(decoding: bytes[start...], as: UTF8.self)
    let options = ODataParserOptions(version: version, isPercentEncoded: printer.isPercentEncoded)
    do throws(ODataSyntaxError) {
      var reader = try SyntaxReader(text, options: options)
      try reader.readToEnd(rule)
    } catch {
      // The depth of trees is limited by the printer itself.
      if case .tooDeep = error.problem { return }
      throw self.error(.unreadable("\(error)"))
    }
  }

  private mutating func resourceStep(_ segment: ODataPathSegment, isFirst: Bool) throws(ODataPrintingError) {
    switch segment.kind {
    // V1 to V3 have the container's name before sets of containers other than the default one.
    case .name(let name) where isFirst && dialect == .v2: try qualifiedName(name)
    case .name(let name): try self.name(name)
    case .qualifiedName(let name): try qualifiedName(name, least: 2)
    case .text(let text): try keySegment(text)
    case .count(nil): raw("$count")
    case .value: raw("$value")
    case .ref:
      try demandV4("$ref", cure: "write $links before the navigation property")
      raw("$ref")
    case .links:
      try demandV2("$links", cure: "write $ref after the navigation property")
      raw("$links")
    case .each:
      try demandV4("$each")
      raw("$each")
    case .query:
      try demandV4("$query")
      raw("$query")
    case .filter(let filter): try filterStep(filter)
    case .crossjoin(let names) where isFirst:
      try demandV4("$crossjoin")
      try demand("$crossjoin", least: 1, found: names.count)
      raw("$crossjoin(")
      try list(names) { (writer, name) throws(ODataPrintingError) in try writer.name(name, "name of an entity set") }
      raw(")")
    case .allEntities where isFirst:
      try demandV4("$all")
      raw("$all")
    default: throw error(.misplaced("\(segment.label) in a resource path", expected: "a property, key or operation"))
    }
  }

  /// Writes a key as a segment, or an ordinal.
  mutating func keySegment(_ text: String) throws(ODataPrintingError) {
    guard !text.isEmpty, text != ".", text != ".." else {
      throw error(.invalidValue("a segment cannot be '\(text)'; write the key in parentheses"))
    }
    // Parentheses after a name are arguments, encoded or not.
    var rest = text[...]
    while let dot = rest.firstIndex(of: "."), SyntaxWriter.isIdentifier(rest[..<dot]) {
      rest = rest[rest.index(after: dot)...]
    }
    let head = rest.prefix { $0 != "(" }
    if SyntaxWriter.isIdentifier(head) {
      throw error(
        .ambiguousName(
          text, readsAs: head.count < rest.count ? "a name with arguments" : "a name",
          cure: head.count < rest.count ? "write the key in parentheses" : "use a name segment instead"))
    }
    guard printer.isPercentEncoded || !text.hasPrefix("$") else { throw error(.needsPercentEncoding(text)) }
    try encoded(text, isStrict: true)
  }
}

extension ODataPathSegment {
  fileprivate var acceptsResourceArguments: Bool {
    switch kind {
    case .name, .qualifiedName, .arguments, .filter: true
    default: false
    }
  }
}

// Context fragments (Protocol 4.01 §10).
extension SyntaxWriter {
  mutating func contextFragment(_ fragment: ODataContextFragment) throws(ODataPrintingError) {
    let start = bytes.count
    try contextBody(fragment)
    try checkOrder(from: start) { (reader) throws(ODataSyntaxError) in _ = try reader.contextFragment() }
  }

  private mutating func contextBody(_ fragment: ODataContextFragment) throws(ODataPrintingError) {
    if let content = fragment.collectionOf {
      guard fragment.path.segments.isEmpty, fragment.item == nil else {
        throw error(.misplaced("a path or item next to Collection(…)", expected: "only the collection"))
      }
      raw("Collection(")
      if content == "$ref" { raw(content) } else { try qualifiedName(content, "name of a type", least: 2) }
      raw(")")
    } else if fragment.path.segments.isEmpty {
      guard fragment.item == "$ref", fragment.selectList == nil else {
        throw error(.misplaced("a fragment without a path", expected: "$ref, or the name of a set, singleton or type"))
      }
      return raw("$ref")
    } else {
      try contextPath(fragment.path)
    }
    if let items = fragment.selectList { try selectList(items) }
    guard let item = fragment.item else { return }
    guard ["$entity", "$delta", "$deletedEntity", "$link", "$deletedLink"].contains(item) else {
      throw error(.invalidName(item, expected: "kind of item ($entity, $delta, $deletedEntity, $link, $deletedLink)"))
    }
    raw("/")
    raw(item)
  }

  private mutating func contextPath(_ path: ODataPath) throws(ODataPrintingError) {
    guard path.root == .implicit, let first = path.segments.first, first.isName else {
      throw error(.misplaced("a path with a root", expected: "the name of a set, singleton or type"))
    }
    for (index, segment) in path.segments.enumerated() {
      if case .arguments(let arguments) = segment.kind, index > 0 {
        try self.arguments(arguments, inExpression: false)
        continue
      }
      if index > 0 { raw("/") }
      switch segment.kind {
      case .name(let name): try self.name(name)
      case .qualifiedName(let name): try qualifiedName(name, least: 2)
      case .text(let text) where index > 0: try keySegment(text)
      default: throw error(.misplaced("\(segment.label) in a context URL", expected: "a property, key or type"))
      }
    }
  }

  private mutating func selectList(_ items: [ODataSelectListItem]) throws(ODataPrintingError) {
    raw("(")
    try enter()
    for index in items.indices {
      if index > 0 { raw(",") }
      try listPath(items[index].path, in: .fragment)
      if items[index].isExpanded { raw("+") }
      if let nested = items[index].nested { try selectList(nested) }
    }
    leave()
    raw(")")
  }
}
