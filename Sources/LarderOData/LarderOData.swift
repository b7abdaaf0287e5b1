// The OData language as values. No I/O, no clock; it imports only FoundationEssentials and LarderHTTP's message values.
//
// The folders, in the order in which a conversation with a service uses them:
// 1. Metadata/  `$metadata` as an ``EdmModel``: the types and sets of a service. CSDL JSON is read here, CSDL XML in LarderODataXML.
// 2. Values/    every primitive Edm type, exact: JSON of V2 and V4, URL literals of both dialects.
// 3. JSON/      the scanner and writer for bytes of JSON, which all other JSON code uses.
// 4. Payload/   the content of responses: events streamed from bytes, and the values built from them (``ODataEntity`` …).
// 5. Batch/     `$batch`: multipart of both dialects and the JSON form of 4.01.
// 6. Language/  URLs and query options: Syntax/ their trees, Parsing/ from text, Binding/ to a model, Printing/ back to text,
//               Building/ in Swift.

// Files that import this module can use these modules without another import.
@_exported public import LarderHTTP

/// The protocol version of a document or message.
public enum ODataVersion: Int, Comparable, Sendable, CaseIterable {
  /// OData 2.0 (and 1.0, which it contains).
  case v2 = 200
  /// OData 3.0.
  case v3 = 300
  /// OData 4.0.
  case v4 = 400
  /// OData 4.01.
  case v401 = 401

  /// Ordered by version number.
  public static func < (left: ODataVersion, right: ODataVersion) -> Bool { left.rawValue < right.rawValue }

  /// The version as in header fields: `2.0`, `3.0`, `4.0` or `4.01`.
  package var text: String {
    switch self {
    case .v2: "2.0"
    case .v3: "3.0"
    case .v4: "4.0"
    case .v401: "4.01"
    }
  }

  /// The dialect that the version uses for literals and JSON.
  package var dialect: ODataDialect { self >= .v4 ? .v4 : .v2 }
}

/// The two dialects of OData: spellings of literals, dates, and control information.
package enum ODataDialect: Sendable, Hashable {
  /// OData V1 to V3.
  case v2
  /// OData V4 and 4.01.
  case v4
}
