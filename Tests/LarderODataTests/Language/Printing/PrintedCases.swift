import Foundation
import LarderOData

/// A text of some rule, its tree, and how both are read and printed.
enum PrintedCase: Equatable {
  case url(ODataURL)
  case path(ODataPath)
  case options(ODataQueryOptions)
  case expression(ODataExpression)
  case fragment(ODataContextFragment)

  /// Reads a text by a rule of the standard's grammar; nil for rules that are parts of others.
  static func read(_ text: String, rule: String, _ parser: ODataParser) throws -> PrintedCase? {
    switch rule {
    case "odataUri": .url(try parser.url(text))
    case "odataRelativeUri": .url(try parser.relativeURL(text))
    case "resourcePath": .path(try parser.path(text))
    case "queryOptions", "systemQueryOption", "customQueryOption", "filter", "orderby", "orderBy", "expand", "select",
      "compute":
      .options(try parser.queryOptions(text))
    case "commonExpr", "boolCommonExpr", "boolcommonExpr", "firstMemberExpr", "propertyPathExpr", "primitiveLiteral",
      "isofExpr", "enumLiteral", "stringLiteral", "guid", "null":
      .expression(try parser.expression(text))
    case "context": .fragment(try parser.contextFragment(String(text.dropFirst())))
    default: nil
    }
  }

  func print(_ printer: ODataPrinter) throws(ODataPrintingError) -> String {
    switch self {
    case .url(let url): try printer.print(url)
    case .path(let path): try printer.print(path)
    case .options(let options): try printer.print(options)
    case .expression(let expression): try printer.print(expression)
    case .fragment(let fragment): try printer.print(fragment)
    }
  }

  /// Reads a text as what this case is.
  func read(_ text: String, _ parser: ODataParser) throws(ODataSyntaxError) -> PrintedCase {
    switch self {
    case .url(let url): .url(try parser.url(text, serviceRoot: url.serviceRoot))
    case .path: .path(try parser.path(text))
    case .options: .options(try parser.queryOptions(text))
    case .expression: .expression(try parser.expression(text))
    case .fragment: .fragment(try parser.contextFragment(text))
    }
  }
}
