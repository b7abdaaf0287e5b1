// Rules of section 6: names.
extension GrammarRules {
  static func addNames(to rules: inout Table) {
    rules.add(
      simpleNames, text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in _ = try reader.identifier() })
    rules.add(
      ["namespace"],
      text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        repeat { _ = try reader.identifier("a part of a namespace") } while reader.take(UInt8(ascii: "."))
      })
    rules.add(
      [
        "qualifiedEntityTypeName", "qualifiedComplexTypeName", "qualifiedTypeDefinitionName", "qualifiedEnumTypeName",
        "singleQualifiedTypeName", "qualifiedActionName",
      ], text(qualified))
    rules.add(
      [
        "optionallyQualifiedEntityTypeName", "optionallyQualifiedComplexTypeName", "optionallyQualifiedActionName",
        "boundActionCall", "boundFunctionCallNoParens",
      ], text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in _ = try reader.qualifiedName() })
    rules.add(["optionallyQualifiedTypeName"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .type(try reader.typeName())
    }
    rules.add(["qualifiedTypeName"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let type = try reader.typeName()
      guard type.name.contains(".") else { throw reader.unexpected("'.' and the rest of the name") }
      return .type(type)
    }
    rules.add(
      ["primitiveTypeName"],
      text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        let start = reader.index
        let name = try reader.qualifiedName("Edm. and the name of a type").name
        guard let type = EdmPrimitiveType(qualifiedName: name), type != .dateTime, type != .time else {
          throw reader.error(.unexpected(expected: ["the name of a primitive type of V4"]), at: start)
        }
      })
    rules.add(["abstractSpatialTypeName"], words(["Geography", "Geometry"]))
    rules.add(
      ["concreteSpatialTypeName"],
      words(["Collection", "LineString", "MultiLineString", "MultiPoint", "MultiPolygon", "Point", "Polygon"]))
    rules.add(["qualifiedFunctionName"], overload(isQualified: true))
    rules.add(["optionallyQualifiedFunctionName"], overload(isQualified: false))
  }

  private static let simpleNames = [
    "odataIdentifier", "namespacePart", "entitySetName", "singletonEntity", "entityTypeName", "complexTypeName",
    "typeDefinitionName", "enumerationTypeName", "enumerationMember", "termName", "primitiveProperty",
    "primitiveKeyProperty", "primitiveNonKeyProperty", "primitiveColProperty", "complexProperty", "complexColProperty",
    "streamProperty", "navigationProperty", "entityNavigationProperty", "entityColNavigationProperty", "action",
    "actionImport", "function", "entityFunction", "entityColFunction", "complexFunction", "complexColFunction",
    "primitiveFunction", "primitiveColFunction", "entityFunctionImport", "entityColFunctionImport",
    "complexFunctionImport", "complexColFunctionImport", "primitiveFunctionImport", "primitiveColFunctionImport",
    "functionImportCallNoParens", "actionImportCall", "parameterName", "keyPropertyAlias", "computedProperty",
    "lambdaVariableExpr", "annotationQualifier", "singleTypeName", "expressionAlias", "customAggregate",
    "recHierQualifier", "rollupNamedHier",
  ]

  private static let qualified: @Sendable (inout SyntaxReader) throws(ODataSyntaxError) -> Void = {
    (reader: inout SyntaxReader) throws(ODataSyntaxError) in
    guard try reader.qualifiedName().isQualified else { throw reader.unexpected("'.' and the rest of the name") }
  }

  /// Reads one of several words in exactly this spelling.
  static func words(_ words: [StaticString]) -> Read {
    text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      for word in words where reader.take(exact: word) { return }
      throw reader.error(.unexpected(expected: words.map { "\($0)" }))
    }
  }

  /// Reads a function's name with the names of its parameters.
  private static func overload(isQualified: Bool) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let position = reader.position
      let name = try reader.qualifiedName()
      guard name.isQualified || !isQualified else { throw reader.unexpected("'.' and the rest of the name") }
      var segments = [ODataPathSegment(name.isQualified ? .qualifiedName(name.name) : .name(name.name), at: position)]
      if reader.peek == UInt8(ascii: "(") { segments.append(try reader.parameterNames()) }
      return .path(ODataPath(segments, at: position))
    }
  }
}
