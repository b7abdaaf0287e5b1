@testable import LarderOData

/// Reads `$apply`, and builds what is expected of it.
enum ApplyReading {
  static func read(_ text: String) throws -> [ODataTransformation] {
    var reader = try SyntaxReader(text, options: ODataParserOptions())
    return try reader.readToEnd { (reader) throws(ODataSyntaxError) in try reader.transformations() }
  }

  /// The only aggregate of `aggregate(…)`.
  static func aggregate(_ text: String) throws -> ODataAggregateExpression? {
    guard case .aggregate(let items)? = try read("aggregate(\(text))").first, items.count == 1 else { return nil }
    return items.first
  }

  static func expression(_ text: String) throws -> ODataExpression {
    var reader = try SyntaxReader(text, options: ODataParserOptions())
    return try reader.readToEnd { (reader) throws(ODataSyntaxError) in try reader.expression() }
  }

  /// `A/Ns.B/$count` as a path of names, casts and counts.
  static func path(_ text: String) -> ODataPath {
    ODataPath(
      text.split(separator: "/").map { step in
        if step == "$count" { return ODataPathSegment(.count(nil)) }
        return ODataPathSegment(step.contains(".") ? .qualifiedName(String(step)) : .name(String(step)))
      })
  }

  static func value(_ path: String) -> ODataExpression { ODataExpression(.path(self.path(path))) }

  static func sum(_ path: String, as alias: String) -> ODataTransformation {
    .aggregate([ODataAggregateExpression(value(path), with: "sum", as: alias)])
  }

  /// The position at which a text is rejected; nil if it is accepted.
  static func rejection(_ text: String) -> Int? {
    do {
      _ = try read(text)
      return nil
    } catch {
      return (error as? ODataSyntaxError)?.offset
    }
  }
}
