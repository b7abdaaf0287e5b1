#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The content of a file `larder-generate.json`.
///
/// ```json
/// { "metadata": "shop.xml", "only": ["Orders"], "except": ["*Text"], "access": "public", "prefix": "Shop" }
/// ```
package struct GeneratorConfiguration: Sendable {
  /// The name of the file.
  package static let fileName = "larder-generate.json"
  /// The path of the metadata document, absolute or relative to the file.
  package let metadata: String
  /// What is generated.
  package let options: GeneratorOptions

  /// Reads the content of a file.
  package init(_ json: [UInt8]) throws(GeneratorError) {
    struct Content: Decodable {
      var metadata: String
      var only: [String]?
      var except: [String]?
      var access: String?
      var prefix: String?
    }
    let content: Content
    do {
      let names = Set(try JSONDecoder().decode([String: AnyContent].self, from: Data(json)).keys)
      let unknown = names.subtracting(["metadata", "only", "except", "access", "prefix"]).sorted()
      guard unknown.isEmpty else { throw GeneratorError.invalidConfiguration("unknown name '\(unknown[0])'") }
      content = try JSONDecoder().decode(Content.self, from: Data(json))
    } catch let error as GeneratorError {
      throw error
    } catch DecodingError.keyNotFound(let key, _) {
      throw .invalidConfiguration("'\(key.stringValue)' is missing")
    } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
      let name = context.codingPath.first?.stringValue
      throw .invalidConfiguration(name.map { "'\($0)' has another type" } ?? "it is not a JSON object")
    } catch {
      throw .invalidConfiguration("it is not JSON")
    }
    let access = content.access ?? GeneratorOptions.Access.internal.rawValue
    guard let level = GeneratorOptions.Access(rawValue: access) else {
      throw .invalidConfiguration("'access' must be public, package or internal")
    }
    guard !content.metadata.isEmpty else { throw .invalidConfiguration("'metadata' is empty") }
    metadata = content.metadata
    options = GeneratorOptions(
      access: level, prefix: content.prefix ?? "", only: (content.only ?? []).map(NamePattern.init),
      except: (content.except ?? []).map(NamePattern.init),
      documentName: String(content.metadata.split(separator: "/").last ?? ""))
  }

  /// Any JSON value.
  private struct AnyContent: Decodable {
    init(from decoder: any Decoder) throws {}
  }
}
