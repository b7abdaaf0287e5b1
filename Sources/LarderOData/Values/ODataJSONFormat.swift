/// The spellings of values in the JSON formats of the versions.
package enum ODataJSONFormat: Sendable, Hashable {
  /// V1 and V2, and V3's `odata=verbose`: dates as `/Date(ms)/`, 64-bit integers and decimals as strings.
  case verbose
  /// V3's `odata=minimalmetadata`: dates in ISO 8601, 64-bit integers and decimals as strings.
  case light
  /// V4 and 4.01. With `IEEE754Compatible=true`, 64-bit integers and decimals are strings (JSON Format 4.01 §3.2).
  case v4(ieee754Compatible: Bool)

  /// The default format of a version's services.
  package init(version: ODataVersion, ieee754Compatible: Bool = false) {
    switch version {
    case .v2: self = .verbose
    case .v3: self = .light
    case .v4, .v401: self = .v4(ieee754Compatible: ieee754Compatible)
    }
  }

  /// The dialect of the format.
  package var dialect: ODataDialect { if case .v4 = self { .v4 } else { .v2 } }
}
