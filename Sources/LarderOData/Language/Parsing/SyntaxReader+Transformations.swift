// `$apply` (Data Aggregation 4.0 §3; its ABNF section 2).
extension SyntaxReader {
  /// Reads `applyExpr`: one or more transformations, joined by `/`.
  mutating func transformations() throws(ODataSyntaxError) -> [ODataTransformation] {
    try transformations(onlyPreserving: false)
  }

  /// Reads `applyExpr`, or `preservingTrafos`: transformations that do not change the instances of their input
  /// (§6.2.1).
  mutating func transformations(onlyPreserving: Bool) throws(ODataSyntaxError) -> [ODataTransformation] {
    var sequence = [try transformation(onlyPreserving: onlyPreserving)]
    while take(UInt8(ascii: "/")) { sequence.append(try transformation(onlyPreserving: onlyPreserving)) }
    return sequence
  }

  private mutating func transformation(onlyPreserving: Bool) throws(ODataSyntaxError) -> ODataTransformation {
    let last = endOfIdentifier(at: index)
    guard last > index else { throw unexpected("a transformation") }
    let next = last < end ? bytes[last] : 0
    if next == UInt8(ascii: ".") { return .custom(try collectionFunction()) }
    let name = string(index..<last)
    if name == "identity", next != UInt8(ascii: "(") {
      index = last
      return .identity
    }
    guard let kind = TransformationName(rawValue: name), !onlyPreserving || kind.isPreserving else {
      index = last
      throw unexpected("'.' and the name of a function ('\(name)' is not a transformation that is allowed here)")
    }
    index = last
    try demand(UInt8(ascii: "("))
    skipSpace()
    let value = try nested { (reader) throws(ODataSyntaxError) in try reader.operands(of: kind) }
    skipSpace()
    try demand(UInt8(ascii: ")"))
    return value
  }

  /// Reads the content of a transformation's parentheses.
  private mutating func operands(of kind: TransformationName) throws(ODataSyntaxError) -> ODataTransformation {
    switch kind {
    case .aggregate:
      return .aggregate(
        try list { (reader) throws(ODataSyntaxError) in try reader.aggregateExpression(hasAlias: true) })
    case .compute: return .compute(try list { (reader) throws(ODataSyntaxError) in try reader.computation() })
    case .concat: return .concat(try concatenation())
    case .groupby: return try grouping()
    case .join, .outerjoin: return try joining(isOuter: kind == .outerjoin)
    case .nest: return .nest(try list { (reader) throws(ODataSyntaxError) in try reader.nestedSequence() })
    case .addnested:
      let path = try aggregationPath(mayEndWithCast: true)
      try comma()
      return .addNested(path, try list { (reader) throws(ODataSyntaxError) in try reader.nestedSequence() })
    case .filter: return .filter(try expression())
    case .search: return .search(try searchExpression())
    case .orderby: return .orderBy(try orderByItems())
    case .top: return .top(try digits())
    case .skip: return .skip(try digits())
    case .ancestors: return try relatives(.ancestors)
    case .descendants: return try relatives(.descendants)
    case .traverse: return try traversal()
    case .topcount: return try extremes(.topcount)
    case .toppercent: return try extremes(.toppercent)
    case .topsum: return try extremes(.topsum)
    case .bottomcount: return try extremes(.bottomcount)
    case .bottompercent: return try extremes(.bottompercent)
    case .bottomsum: return try extremes(.bottomsum)
    }
  }

  /// Reads `topcount(number,value)` and the related transformations (§3.3).
  private mutating func extremes(_ kind: ODataExtremes) throws(ODataSyntaxError) -> ODataTransformation {
    let number = try expression()
    try comma()
    return .extremes(kind, number, try expression())
  }

  /// Reads `concat` (§3.2.2): two sequences or more.
  private mutating func concatenation() throws(ODataSyntaxError) -> [[ODataTransformation]] {
    var sequences = [try transformations()]
    try comma()
    repeat { sequences.append(try transformations()) } while takeComma()
    return sequences
  }

  /// `computeExpr`
  private mutating func computation() throws(ODataSyntaxError) -> ODataComputeItem {
    let value = try expression()
    let alias = try alias()
    return ODataComputeItem(value, as: alias.name, at: alias.position)
  }

  /// Reads one item of `nestApplyExpr`.
  private mutating func nestedSequence() throws(ODataSyntaxError) -> ODataNestedSequence {
    let sequence = try transformations()
    return ODataNestedSequence(sequence, as: try alias().name)
  }

  /// Reads `join` and `outerjoin` (§3.5.1): a collection of the instance, its alias, and the transformations of the
  /// collection.
  private mutating func joining(isOuter: Bool) throws(ODataSyntaxError) -> ODataTransformation {
    let position = position
    var segments: [ODataPathSegment] = []
    if peek == UInt8(ascii: "@") {
      segments.append(try annotation())
    } else {
      segments.append(ODataPathSegment(.name(try identifier("a collection's name")), at: position))
      if take(UInt8(ascii: "/")) {
        let place = self.position
        let (name, isQualified) = try qualifiedName("a type's name")
        segments.append(ODataPathSegment(isQualified ? .qualifiedName(name) : .name(name), at: place))
      }
    }
    let alias = try alias().name
    let sequence = takeComma() ? try transformations() : []
    return .join(ODataPath(segments, at: position), alias: alias, isOuter: isOuter, sequence)
  }

  /// Reads `customFunction` (§3.6): a function of the service that takes and returns a collection; its arguments have
  /// names.
  mutating func collectionFunction() throws(ODataSyntaxError) -> ODataPath {
    let position = position
    let name = try qualifiedName().name
    guard peek == UInt8(ascii: "(") else { throw unexpected("'('") }
    let start = index
    let arguments = try arguments(inExpression: true)
    if case .arguments(let all) = arguments.kind, all.contains(where: { $0.name == nil }) {
      throw error(.unexpected(expected: ["a parameter's name and '='"]), at: start + 1)
    }
    return ODataPath([ODataPathSegment(.qualifiedName(name), at: position), arguments], at: position)
  }
}

// Parts that several transformations have.
extension SyntaxReader {
  /// `item *( BWS COMMA BWS item )`
  mutating func list<Item>(
    _ item: (inout SyntaxReader) throws(ODataSyntaxError) -> Item
  ) throws(ODataSyntaxError) -> [Item] {
    var items = [try item(&self)]
    while takeComma() { items.append(try item(&self)) }
    return items
  }

  /// Reads `BWS COMMA BWS`; takes nothing if there is no comma.
  mutating func takeComma() -> Bool {
    let start = index
    skipSpace()
    guard take(UInt8(ascii: ",")) else {
      index = start
      return false
    }
    skipSpace()
    return true
  }

  mutating func comma() throws(ODataSyntaxError) {
    skipSpace()
    try demand(UInt8(ascii: ","))
    skipSpace()
  }

  /// Reads `RWS word RWS`; takes nothing if the text does not match.
  mutating func takeKeyword(_ word: StaticString) throws(ODataSyntaxError) -> Bool {
    let start = index
    skipSpace()
    guard index > start || isAfterSpace, take(exact: word) else {
      index = start
      return false
    }
    guard takeSpace() else { throw unexpected("white space") }
    return true
  }

  private var isAfterSpace: Bool {
    index > 0 && (bytes[index - 1] == 0x20 || bytes[index - 1] == 0x09)
  }

  /// `asAlias`
  mutating func alias() throws(ODataSyntaxError) -> (name: String, position: SourcePosition) {
    guard try takeKeyword("as") else {
      skipSpace()
      throw unexpected("'as' and a name")
    }
    let position = position
    return (try identifier(), position)
  }
}

/// The names of the transformations that have parentheses.
private enum TransformationName: String {
  case aggregate, compute, concat, groupby, join, outerjoin, nest, addnested
  case filter, search, orderby, top, skip, ancestors, descendants, traverse
  case topcount, toppercent, topsum, bottomcount, bottompercent, bottomsum

  /// `preservingTrafo`
  var isPreserving: Bool {
    switch self {
    case .aggregate, .compute, .concat, .groupby, .join, .outerjoin, .nest, .addnested: false
    default: true
    }
  }
}

extension SyntaxReader {
  /// Whether a transformation of the standard that keeps instances begins here, judged by its name alone.
  var isAtPreservingTransformation: Bool {
    let last = endOfIdentifier(at: index)
    let next = last < end ? bytes[last] : 0
    let name = string(index..<last)
    if name == "identity" { return next != UInt8(ascii: "(") && next != UInt8(ascii: ".") }
    return next == UInt8(ascii: "(") && TransformationName(rawValue: name)?.isPreserving == true
  }
}
