// Rules of section 7: literals in URLs, and values outside of them.
extension GrammarRules {
  static func addLiterals(to rules: inout Table) {
    rules.add(["primitiveLiteral"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .expression(try reader.primitiveLiteral())
    }
    rules.add(["null"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      guard reader.take(exact: "null") else { throw reader.unexpected("null") }
      return .value(.null)
    }
    rules.add(["boolean"], boolean(anyCase: true))
    rules.add(["date"], value(.date, date))
    rules.add(["dateTimeOffsetLiteral"], value(.dateTimeOffset, timestamp))
    rules.add(["dateTimeOffsetValueInUrl"], value(.dateTimeOffset, timestamp))
    rules.add(["timeOfDayLiteral"], value(.timeOfDay, time))
    rules.add(["guid"], value(.guid, guid))
    rules.add(["decimalLiteral"], value(.decimal, decimal))
    rules.add(["doubleLiteral"], value(.double, decimal))
    rules.add(["singleLiteral"], value(.single, decimal))
    rules.add(["byte"], whole(.byte, 3, isSigned: false))
    rules.add(["sbyteLiteral"], whole(.sbyte, 3))
    rules.add(["int16Literal"], whole(.int16, 5))
    rules.add(["int32Literal"], whole(.int32, 10))
    rules.add(["int64Literal"], whole(.int64, 19))
    rules.add(["stringLiteral"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .value(.string(try reader.strictString()))
    }
    rules.add(["durationLiteral"], prefixed("duration", isOptional: true, .duration, duration))
    rules.add(["binaryLiteral"], prefixed("binary", isOptional: false, .binary, binary))
    rules.add(["enumLiteral"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .enumeration(try reader.enumerationLiteral())
    }
    rules.add(["singleEnumLiteral"], members(single: true))
    for shape in SyntaxReader.GeoShape.allCases { addShape(shape, to: &rules) }
    rules.add(
      ["geoLiteral"],
      text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        try reader.scanShape(SyntaxReader.GeoShape.allCases)
      })
    rules.add(["sridLiteral"], text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.scanSRID() })
    rules.add(["pointData"], text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.scanPoint() })
    rules.add(
      ["lineStringData"], text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.scanLine() })
    rules.add(
      ["polygonData"], text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.scanPolygon() })
    rules.add(["ringLiteral"], text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.scanRing() })
    rules.add(
      ["positionLiteral"], text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.scanPosition() })
  }

  private static func addShape(_ shape: SyntaxReader.GeoShape, to rules: inout Table) {
    for space in ["geography", "geometry"] {
      rules.add([space + shape.rawValue]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        .value(try reader.geoLiteral(shape, isGeography: space == "geography"))
      }
    }
    rules.add(["full\(shape.rawValue)Literal"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .value(try reader.fullGeoLiteral([shape], isGeography: false))
    }
    rules.add(
      [geoRuleName(shape)],
      text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        try reader.scanShape([shape])
      })
  }

  private static func geoRuleName(_ shape: SyntaxReader.GeoShape) -> String {
    shape.rawValue.prefix(1).lowercased() + shape.rawValue.dropFirst() + "Literal"
  }

  /// Values outside of URLs, in which `%` is a character.
  static func addValues(to rules: inout Table) {
    rules.addOutside(["booleanValue"], boolean(anyCase: false))
    rules.addOutside(["dateValue"], value(.date, date))
    rules.addOutside(["dateTimeOffsetValue"], value(.dateTimeOffset, timestamp))
    rules.addOutside(["timeOfDayValue"], value(.timeOfDay, time))
    rules.addOutside(["guidValue"], value(.guid, guid))
    rules.addOutside(["durationValue"], value(.duration, duration))
    rules.addOutside(["binaryValue"], value(.binary, binary))
    rules.addOutside(["decimalValue"], value(.decimal, decimal))
    rules.addOutside(["doubleValue"], value(.double, decimal))
    rules.addOutside(["singleValue"], value(.single, decimal))
    rules.addOutside(["byteValue"], whole(.byte, 3, isSigned: false))
    rules.addOutside(["sbyteValue"], whole(.sbyte, 3))
    rules.addOutside(["int16Value"], whole(.int16, 5))
    rules.addOutside(["int32Value"], whole(.int32, 10))
    rules.addOutside(["int64Value"], whole(.int64, 19))
    rules.addOutside(["enumValue"], members(single: false))
    rules.addOutside(["singleEnumValue"], members(single: true))
    rules.addOutside(["primitiveValue"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      try anyValue(&reader)
    }
  }

  /// Reads the whole text by the first value rule that matches; otherwise throws the error with the furthest position.
  private static func anyValue(_ reader: inout SyntaxReader) throws(ODataSyntaxError) -> ODataSyntaxTree {
    var furthest: ODataSyntaxError?
    let geo: Read = { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .value(try reader.fullGeoLiteral(SyntaxReader.GeoShape.allCases, isGeography: false))
    }
    let reads =
      [
        boolean(anyCase: false), value(.guid, guid), value(.duration, duration), value(.dateTimeOffset, timestamp),
        value(.date, date), value(.timeOfDay, time), whole(.int32, 10), whole(.int64, 19), value(.decimal, decimal),
        members(single: false), geo, value(.binary, binary),
      ]
    for read in reads {
      var attempt = reader
      do throws(ODataSyntaxError) {
        let value = try attempt.readToEnd(read)
        reader = attempt
        return value
      } catch {
        if furthest.map({ $0.offset < error.offset }) ?? true { furthest = error }
      }
    }
    // The punctuation of geo values may be percent-encoded.
    if reader.index == 0, reader.text.utf8.contains(UInt8(ascii: "%")) {
      var attempt = try SyntaxReader(reader.text, options: ODataParserOptions(version: reader.options.version))
      do throws(ODataSyntaxError) {
        let value = try attempt.readToEnd(geo)
        reader = attempt
        return value
      } catch {
        if furthest.map({ $0.offset < error.offset }) ?? true { furthest = error }
      }
    }
    throw furthest ?? reader.unexpected("a value")
  }

  private typealias Scan = @Sendable (inout SyntaxReader) throws(ODataSyntaxError) -> Void
  private static let date: Scan = { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.scanDate() }
  private static let time: Scan = { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.scanTimeOfDay()
  }
  private static let timestamp: Scan = { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
    try reader.scanDateTimeOffset()
  }
  private static let guid: Scan = { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.scanGuid() }
  private static let duration: Scan = { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
    try reader.scanDuration()
  }
  private static let decimal: Scan = { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.scanDecimal()
  }
  private static let binary: Scan = { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.scanBinary() }

  private static func boolean(anyCase: Bool) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in .value(try reader.booleanValue(anyCase: anyCase)) }
  }

  private static func whole(_ type: EdmPrimitiveType, _ digits: Int, isSigned: Bool = true) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .value(try reader.wholeNumber(type, digits: digits, isSigned: isSigned))
    }
  }

  private static func members(single: Bool) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let start = reader.index
      let members = try reader.enumerationMembers()
      if single, let comma = members.utf8.firstIndex(of: UInt8(ascii: ",")) {
        let place = start + members.utf8.distance(from: members.startIndex, to: comma)
        throw reader.error(.unexpected(expected: []), at: place)
      }
      return .value(.enumeration(members))
    }
  }

  /// Reads a word and a value in single quotes.
  private static func prefixed(
    _ word: StaticString, isOptional: Bool, _ type: EdmPrimitiveType, _ scan: @escaping Scan
  ) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      if reader.hasWord(word, at: reader.index, anyCase: true) {
        reader.index += word.utf8CodeUnitCount
      } else if !isOptional {
        throw reader.unexpected("\(word)")
      }
      let value = try reader.singleQuoted { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        try reader.value(type, scan)
      }
      return .value(value)
    }
  }
}
