import Foundation
@_spi(Stores) import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderOData

/// The grammar's test cases for scalar rules, read from a folder next to the project if it exists.
@Suite("The grammar's cases for scalars", .timeLimit(.minutes(5)))
struct GrammarCaseTests {
  struct Case: Decodable {
    let name: String
    let rule: String
    let input: String
    let failAt: Int?
  }

  static let types: [String: EdmPrimitiveType] = [
    "binary": .binary, "boolean": .boolean, "date": .date, "dateTimeOffset": .dateTimeOffset, "decimal": .decimal,
    "duration": .duration, "double": .double,
    "byte": .byte, "sbyte": .sbyte, "int16": .int16, "int32": .int32, "int64": .int64, "timeOfDay": .timeOfDay,
    "string": .string, "guid": .guid,
    "geographyCollection": .geographyCollection, "geographyLineString": .geographyLineString,
    "geographyMultiLineString": .geographyMultiLineString,
    "geographyMultiPoint": .geographyMultiPoint, "geographyMultiPolygon": .geographyMultiPolygon,
    "geographyPoint": .geographyPoint,
    "geographyPolygon": .geographyPolygon, "geometryLineString": .geometryLineString,
    "geometryMultiPoint": .geometryMultiPoint,
    "geometryMultiPolygon": .geometryMultiPolygon, "geometryPolygon": .geometryPolygon,
  ]

  /// Reads a case with the reader of its rule; nil for rules of other stages.
  private static func outcome(_ item: Case) -> Result<ODataValue, any Error>? {
    Result {
      let literal = { () throws -> String in
        guard let text = PercentEncoding.decode(item.input) else {
          throw ODataValueError(.malformed, type: nil, text: item.input)
        }
        return text
      }
      switch item.rule {
      case "null", "primitiveLiteral": return try ODataValue(literal: try literal(), dialect: .v4)
      case "enumLiteral": return .enumeration(try ODataValue.enumeration(literal: try literal()).members)
      case "enumValue":
        return try Array(item.input.utf8).withUnsafeBufferPointer { try ODataValue(enumeration: .string($0)) }
      case "primitiveValue":
        // Any type that takes the text will do; a bare name is an enumeration's member.
        for type in EdmPrimitiveType.allCases where type != .string && type != .stream && type != .binary {
          if let value = try? ODataValue(text: item.input, type: type) { return value }
        }
        return try Array(item.input.utf8).withUnsafeBufferPointer { try ODataValue(enumeration: .string($0)) }
      default: break
      }
      if item.rule.hasSuffix("Value"), let type = types[String(item.rule.dropLast(5))] {
        return try ODataValue(text: item.input, type: type)
      }
      let name = item.rule.hasSuffix("Literal") ? String(item.rule.dropLast(7)) : item.rule
      guard let type = types[name] else { throw Unknown() }
      return try ODataValue(literal: try literal(), type: type, dialect: .v4)
    }
  }

  private struct Unknown: Error {}

  @Test("Every scalar case is accepted or rejected as the grammar says")
  func cases() throws {
    guard let file = SharedOData.folder?.appending(path: "abnf-cases.json") else { return }
    let all = try JSONDecoder().decode([Case].self, from: Data(contentsOf: file))
    var passed = 0
    for item in all {
      guard let outcome = GrammarCaseTests.outcome(item) else { continue }
      if case .failure(let error) = outcome, error is Unknown { continue }
      // The grammar limits only the number of digits; the range in its comment excludes this one from SByte.
      let isRejected = item.failAt != nil || item.rule == "sbyteLiteral" && item.input == "%2B128"
      let isAccepted = if case .success = outcome { true } else { false }
      #expect(isAccepted != isRejected, "\(item.name): \(item.rule) \(item.input) -> \(outcome)")
      if isAccepted != isRejected { passed += 1 }
    }
    print("grammar cases of scalar rules: \(passed) as the grammar says")
    #expect(passed >= 60)
  }
}
