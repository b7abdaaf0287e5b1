import LarderOData

/// The form of a result: the version's format, the amount of control information, and the prefix of links.
struct ResultForm: Sendable, Hashable {
  /// The `metadata` parameter of the media type (JSON Format 4.01 §3.1).
  enum Metadata: String, Sendable, Hashable {
    case none, minimal, full
  }

  /// The version of the result: verbose JSON up to V3, V4 JSON from then on.
  var version: ODataVersion
  /// The amount of control information. Verbose results always have theirs.
  var metadata: Metadata
  /// Whether 64-bit integers and decimals are strings (JSON Format 4.01 §3.2); in verbose results they always are.
  var isIEEE754Compatible: Bool
  /// The prefix of links and context URLs, with a slash at its end; empty for relative ones.
  var serviceRoot: String

  /// Creates a form. Adds a slash to the service root if it lacks one.
  init(
    version: ODataVersion, metadata: Metadata = .minimal, isIEEE754Compatible: Bool = false, serviceRoot: String = ""
  ) {
    self.version = version
    self.metadata = metadata
    self.isIEEE754Compatible = isIEEE754Compatible
    self.serviceRoot = serviceRoot.isEmpty || serviceRoot.hasSuffix("/") ? serviceRoot : serviceRoot + "/"
  }

  /// True for the format of V2 and V3.
  var isVerbose: Bool { version < .v4 }

  /// The dialect of literals, in links too.
  var dialect: ODataDialect { isVerbose ? .v2 : .v4 }

  /// The format of values.
  var format: ODataJSONFormat { isVerbose ? .verbose : .v4(ieee754Compatible: isIEEE754Compatible) }

  /// The prefix of control information: 4.01 omits `odata.` (JSON Format 4.01 §4.5).
  var control: String { version >= .v401 ? "@" : "@odata." }

  /// Whether values that JSON numbers would round are written as strings.
  var quotesExactNumbers: Bool { isVerbose || isIEEE754Compatible }

  /// The media type of JSON results.
  var mediaType: String {
    switch version {
    case .v2: "application/json"
    case .v3: "application/json;odata=verbose"
    case .v4, .v401: isIEEE754Compatible ? plainType + ";IEEE754Compatible=true" : plainType
    }
  }

  // Constants, because every result has one of them.
  private var plainType: String {
    switch (metadata, version >= .v401) {
    case (.none, false): "application/json;odata.metadata=none"
    case (.minimal, false): "application/json;odata.metadata=minimal"
    case (.full, false): "application/json;odata.metadata=full"
    case (.none, true): "application/json;metadata=none"
    case (.minimal, true): "application/json;metadata=minimal"
    case (.full, true): "application/json;metadata=full"
    }
  }
}
