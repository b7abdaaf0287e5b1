// Lists of `$orderby`, `$compute` and `$select`.
extension SyntaxReader {
  /// Reads items separated by commas. White space around commas, which many clients write, is skipped.
  mutating func items<Item>(
    _ read: (inout SyntaxReader) throws(ODataSyntaxError) -> Item
  ) throws(ODataSyntaxError) -> [Item] {
    var items: [Item] = []
    while true {
      skipSpace()
      items.append(try read(&self))
      let last = index
      skipSpace()
      guard take(UInt8(ascii: ",")) else {
        index = last
        return items
      }
    }
  }

  /// The value of `$orderby` (URL Conventions 4.01 §5.1.5).
  mutating func orderByItems() throws(ODataSyntaxError) -> [ODataOrderByItem] {
    try items { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.orderByItem() }
  }

  /// `orderbyItem`
  mutating func orderByItem() throws(ODataSyntaxError) -> ODataOrderByItem {
    let expression = try expression()
    let last = index
    if takeSpace() {
      if take(word: "asc") { return ODataOrderByItem(expression) }
      if take(word: "desc") { return ODataOrderByItem(expression, isDescending: true) }
    }
    index = last
    return ODataOrderByItem(expression)
  }

  /// The value of `$compute` (§5.1.6).
  mutating func computeItems() throws(ODataSyntaxError) -> [ODataComputeItem] {
    try items { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.computeItem() }
  }

  /// `computeItem`
  mutating func computeItem() throws(ODataSyntaxError) -> ODataComputeItem {
    let expression = try expression()
    guard takeSpace() else { throw unexpected("an operator", "' as ' and a name") }
    guard take(word: "as") else { throw unexpected("an operator", "as") }
    guard takeSpace() else { throw unexpected("a space and a name") }
    let position = position
    return ODataComputeItem(expression, as: try identifier(), at: position)
  }

  /// The value of `$select` (§5.1.4).
  mutating func selectItems() throws(ODataSyntaxError) -> [ODataSelectItem] {
    try items { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.selectItem() }
  }

  /// `selectItem`
  mutating func selectItem() throws(ODataSyntaxError) -> ODataSelectItem {
    let position = position
    var segments: [ODataPathSegment] = []
    if take(UInt8(ascii: "*")) {
      return ODataSelectItem(ODataPath([ODataPathSegment(.star, at: position)], at: position))
    }
    while true {
      if dialect == .v2, !segments.isEmpty, case let place = self.position, take(UInt8(ascii: "*")) {
        segments.append(ODataPathSegment(.star, at: place))
        break
      }
      let start = index
      let step = try listStep(after: segments, "a property")
      segments.append(step)
      if peek == UInt8(ascii: "."), peek(ahead: 1) == UInt8(ascii: "*"), segments.count == 1,
        bytes[start] != UInt8(ascii: "@")
      {
        segments = [ODataPathSegment(.allOperations(string(start..<index)), at: position)]
        index += 2
        break
      }
      if peek == UInt8(ascii: "("), dialect == .v4 {
        if isParameterNames {
          segments.append(try parameterNames())
          break
        }
        return ODataSelectItem(ODataPath(segments, at: position), options: try parenthesizedOptions(.select))
      }
      guard take(UInt8(ascii: "/")) else { break }
    }
    return ODataSelectItem(ODataPath(segments, at: position))
  }

  /// Reads a name, qualified or not, or an annotation: one step in `$select` and `$expand`. Two types may not follow
  /// each other, unless the second may be an operation that ends the path.
  mutating func listStep(
    after segments: [ODataPathSegment], _ expected: String
  ) throws(ODataSyntaxError) -> ODataPathSegment {
    if peek == UInt8(ascii: "@"), dialect == .v4 { return try annotation() }
    let position = position
    let (name, isQualified) = try qualifiedName(expected)
    if isQualified, case .qualifiedName(let before)? = segments.last?.kind, before == name || segments.count > 1 {
      throw unexpected("a property (a type cannot follow another type)")
    }
    return ODataPathSegment(isQualified ? .qualifiedName(name) : .name(name), at: position)
  }

  /// Whether the next parentheses contain names of parameters, not options.
  private var isParameterNames: Bool {
    var place = index + 1
    while place < end, bytes[place] == 0x20 || bytes[place] == 0x09 { place += 1 }
    let last = endOfIdentifier(at: place)
    return last > place && (last >= end || bytes[last] == UInt8(ascii: ",") || bytes[last] == UInt8(ascii: ")"))
  }

  /// Reads `(name,name)`, which selects an overload of a function.
  mutating func parameterNames() throws(ODataSyntaxError) -> ODataPathSegment {
    let position = position
    try demand(UInt8(ascii: "("))
    let names = try items { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let place = reader.position
      let step = ODataPathSegment(.name(try reader.identifier("a parameter's name")), at: place)
      return ODataArgument(value: ODataExpression(.path(ODataPath([step], at: place)), at: place))
    }
    guard take(UInt8(ascii: ")")) else { throw unexpected("','", "')'") }
    return ODataPathSegment(.arguments(names), at: position)
  }
}
