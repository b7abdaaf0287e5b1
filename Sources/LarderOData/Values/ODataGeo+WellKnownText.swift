// `SRID=4326;Point(1 2)`: the form inside URL literals (ABNF `fullPointLiteral` and its siblings).
extension ODataGeo {
  /// Reads `SRID=n;Shape(…)`. It accepts names in any case, the white space of other tools, `EMPTY`, and the marks `Z`,
  /// `M` and `ZM`. Without an SRID the reference system is nil.
  public init(wellKnownText text: String, space: Space) throws(ODataValueError) {
    let type: EdmPrimitiveType = space == .geography ? .geography : .geometry
    self = try ODataValue.withBytes(of: text, type: type) { bytes throws(ODataValueError.Problem) in
      var cursor = ByteCursor(bytes)
      let geo = try ODataGeo(wellKnownText: &cursor, type: type)
      guard cursor.isAtEnd else { throw .malformed }
      return geo
    }
  }

  /// `SRID=n;Shape(…)`, as in URL literals; without the first part if the reference system is not known.
  public var wellKnownText: String {
    var bytes: [UInt8] = []
    write(wellKnownTextInto: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  init(wellKnownText cursor: inout ByteCursor, type: EdmPrimitiveType) throws(ODataValueError.Problem) {
    guard let space = type.geoSpace else { throw .malformed }
    var srid: Int?
    if cursor.take(word: "SRID") {
      guard cursor.take(UInt8(ascii: "=")) else { throw .malformed }
      let run = cursor.digitRun()
      guard (1...6).contains(run.count), let number = run.value, cursor.take(UInt8(ascii: ";")) else {
        throw .malformed
      }
      srid = Int(number)
    }
    var reader = WellKnownTextReader(cursor)
    let shape = try reader.shape(depth: 0)
    reader.skipSpace()
    cursor = reader.cursor
    self.init(space, srid: srid, shape: shape)
    guard type.accepts(self) else { throw .wrongKind("the text of \(self.type.qualifiedName)") }
  }

  func write(wellKnownTextInto bytes: inout [UInt8]) {
    if let srid {
      bytes.append(ascii: "SRID=")
      bytes.append(decimal: srid)
      bytes.append(UInt8(ascii: ";"))
    }
    ODataGeo.write(shape, into: &bytes)
  }

  private static func write(_ shape: Shape, into bytes: inout [UInt8]) {
    bytes.append(contentsOf: shape.name.utf8)
    switch shape {
    case .point(nil): bytes.append(ascii: " EMPTY")
    case .lineString([]), .polygon([]): bytes.append(ascii: " EMPTY")
    case .point(.some(let position)): list([position], into: &bytes, write)
    case .lineString(let line): list(line, into: &bytes, write)
    case .polygon(let lines), .multiLineString(let lines): list(lines, into: &bytes) { list($0, into: &$1, write) }
    case .multiPoint(let points):
      list(points, into: &bytes) { point, bytes in
        if let point { list([point], into: &bytes, write) } else { bytes.append(ascii: "EMPTY") }
      }
    case .multiPolygon(let polygons):
      list(polygons, into: &bytes) { polygon, bytes in
        list(polygon, into: &bytes) { list($0, into: &$1, write) }
      }
    case .collection(let shapes): list(shapes, into: &bytes, write)
    }
  }

  private static func list<Element>(
    _ elements: [Element], into bytes: inout [UInt8], _ write: (Element, inout [UInt8]) -> Void
  ) {
    bytes.append(UInt8(ascii: "("))
    for (index, element) in elements.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      write(element, &bytes)
    }
    bytes.append(UInt8(ascii: ")"))
  }

  private static func write(_ position: Position, into bytes: inout [UInt8]) {
    ODataValue.write(position.x, into: &bytes)
    bytes.append(UInt8(ascii: " "))
    ODataValue.write(position.y, into: &bytes)
    guard position.z != nil || position.m != nil else { return }
    bytes.append(UInt8(ascii: " "))
    // A measure without a height needs a placeholder; the libraries of V3 and V4 write this one.
    if let z = position.z { ODataValue.write(z, into: &bytes) } else { bytes.append(ascii: "NULL") }
    guard let measure = position.m else { return }
    bytes.append(UInt8(ascii: " "))
    ODataValue.write(measure, into: &bytes)
  }
}

/// A recursive-descent parser for the text of one shape.
private struct WellKnownTextReader {
  var cursor: ByteCursor
  /// Whether the current shape has a mark `M`: the third number is a measure.
  private var hasMeasureOnly = false

  init(_ cursor: ByteCursor) { self.cursor = cursor }

  mutating func skipSpace() { while cursor.take(UInt8(ascii: " ")) {} }

  mutating func shape(depth: Int) throws(ODataValueError.Problem) -> ODataGeo.Shape {
    guard depth < ODataGeo.maximumDepth else { throw .tooDeep(limit: ODataGeo.maximumDepth) }
    skipSpace()
    // Longer names are compared first: "Point" is not the beginning of another one.
    if cursor.take(word: "GeometryCollection") {
      return .collection(try list { reader throws(ODataValueError.Problem) in try reader.shape(depth: depth + 1) })
    }
    if cursor.take(word: "MultiPoint") { return .multiPoint(try list(Self.point)) }
    if cursor.take(word: "MultiLineString") { return .multiLineString(try list(Self.line)) }
    if cursor.take(word: "MultiPolygon") { return .multiPolygon(try list(Self.polygon)) }
    if cursor.take(word: "LineString") { return .lineString(try list(Self.position)) }
    if cursor.take(word: "Polygon") { return .polygon(try list(Self.line)) }
    guard cursor.take(word: "Point") else { throw .malformed }
    let positions = try list(Self.position)
    guard positions.count < 2 else { throw .malformed }
    return .point(positions.first)
  }

  private mutating func dimensionMark() {
    skipSpace()
    var ahead = cursor
    let hasHeight = ahead.take(letter: UInt8(ascii: "Z"))
    let hasMeasure = ahead.take(letter: UInt8(ascii: "M"))
    guard hasHeight || hasMeasure, ahead.peek == UInt8(ascii: "(") || ahead.peek == UInt8(ascii: " ") else { return }
    hasMeasureOnly = !hasHeight
    cursor = ahead
    skipSpace()
  }

  /// Reads `( element , element )`, `()` or `EMPTY`.
  private mutating func list<Element>(
    _ read: (inout WellKnownTextReader) throws(ODataValueError.Problem) -> Element
  ) throws(ODataValueError.Problem) -> [Element] {
    dimensionMark()
    if cursor.take(word: "EMPTY") { return [] }
    guard cursor.take(UInt8(ascii: "(")) else { throw .malformed }
    skipSpace()
    if cursor.take(UInt8(ascii: ")")) { return [] }
    var elements: [Element] = []
    repeat {
      elements.append(try read(&self))
      skipSpace()
    } while cursor.take(UInt8(ascii: ","))
    guard cursor.take(UInt8(ascii: ")")) else { throw .malformed }
    return elements
  }

  private static func line(
    _ reader: inout WellKnownTextReader
  ) throws(ODataValueError.Problem) -> [ODataGeo.Position] { try reader.list(position) }

  private static func polygon(
    _ reader: inout WellKnownTextReader
  ) throws(ODataValueError.Problem) -> [[ODataGeo.Position]] { try reader.list(line) }

  /// Reads `(1 2)`, also `1 2` without parentheses as in older text, or `EMPTY`.
  private static func point(
    _ reader: inout WellKnownTextReader
  ) throws(ODataValueError.Problem) -> ODataGeo.Position? {
    reader.skipSpace()
    if reader.cursor.peek | 0x20 == UInt8(ascii: "e") || reader.cursor.peek == UInt8(ascii: "(") {
      let positions = try reader.list(position)
      guard positions.count < 2 else { throw .malformed }
      return positions.first
    }
    return try position(&reader)
  }

  private static func position(
    _ reader: inout WellKnownTextReader
  ) throws(ODataValueError.Problem) -> ODataGeo.Position {
    guard let x = try reader.number(), let y = try reader.number() else { throw .malformed }
    var more: [Double?] = []
    while more.count < 2 {
      let before = reader.cursor.index
      reader.skipSpace()
      let next = reader.cursor.peek
      if reader.cursor.index == before || next == UInt8(ascii: ",") || next == UInt8(ascii: ")") { break }
      more.append(try reader.number())
    }
    if reader.hasMeasureOnly, more.count == 1 { return .init(x: x, y: y, m: more[0]) }
    return .init(x: x, y: y, z: more.first ?? nil, m: more.count > 1 ? more[1] : nil)
  }

  /// Reads a coordinate; nil for `NULL`, the placeholder of a missing height.
  private mutating func number() throws(ODataValueError.Problem) -> Double? {
    skipSpace()
    if cursor.take(word: "NULL") { return nil }
    let start = cursor.index
    scan: while true {
      switch cursor.peek {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"):
        cursor.advance()
      default: break scan
      }
    }
    guard case .double(let value) = try ODataValue(number: cursor.slice(start..<cursor.index), type: .double) else {
      throw .malformed
    }
    return value
  }
}
