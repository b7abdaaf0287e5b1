import LarderOData

/// How an answer is spelled: the version's format, how much control information, and what links begin with.
struct ResultForm: Sendable, Hashable {
  /// The `metadata` parameter of the media type (JSON Format 4.01 §3.1).
  enum Metadata: String, Sendable, Hashable {
    case none, minimal, full
  }

  /// The version of the answer: verbose JSON up to V3, V4 JSON from then on.
  var version: ODataVersion
  /// How much control information; verbose answers always have theirs.
  var metadata: Metadata
  /// Whether 64-bit integers and decimals are strings (JSON Format 4.01 §3.2); in verbose answers they always are.
  var isIEEE754Compatible: Bool
  /// What links and context URLs begin with, a slash at its end; empty for relative ones.
  var serviceRoot: String

  /// Joins all; a slash is added to the service's root where it lacks one.
  init(
    version: ODataVersion, metadata: Metadata = .minimal, isIEEE754Compatible: Bool = false, serviceRoot: String = ""
  ) {
    self.version = version
    self.metadata = metadata
    self.isIEEE754Compatible = isIEEE754Compatible
    self.serviceRoot = serviceRoot.isEmpty || serviceRoot.hasSuffix("/") ? serviceRoot : serviceRoot + "/"
  }

  /// True for V2's and V3's format.
  var isVerbose: Bool { version < .v4 }

  /// The family of spellings, of literals in links too.
  var dialect: ODataDialect { isVerbose ? .v2 : .v4 }

  /// The spellings of values.
  var format: ODataJSONFormat { isVerbose ? .verbose : .v4(ieee754Compatible: isIEEE754Compatible) }

  /// What control information begins with: 4.01 leaves `odata.` out (JSON Format 4.01 §4.5).
  var control: String { version >= .v401 ? "@" : "@odata." }

  /// Whether values that JSON numbers would round stand in strings.
  var quotesExactNumbers: Bool { isVerbose || isIEEE754Compatible }

  /// The media type of JSON answers.
  var mediaType: String {
    switch version {
    case .v2: "application/json"
    case .v3: "application/json;odata=verbose"
    case .v4, .v401: isIEEE754Compatible ? plainType + ";IEEE754Compatible=true" : plainType
    }
  }

  // Constants: every answer says one of them.
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
