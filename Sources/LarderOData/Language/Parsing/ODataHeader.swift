/// A parsed header of OData in a request or response (Protocol 4.01 §8; ABNF section 8).
package enum ODataHeader: Sendable, Hashable {
  /// `AsyncResult`: the status code of the request that ran asynchronously.
  case asyncResult(Int)
  /// `Content-ID` of a part of a batch.
  case contentID(String)
  /// `OData-Isolation: snapshot`
  case isolation
  /// `OData-EntityID`
  case entityID(String)
  /// `OData-Error`: a JSON object, in a trailer.
  case error(String)
  /// `OData-MaxVersion`
  case maxVersion(major: Int, minor: Int)
  /// `OData-Version`: `4.0`, `4.01`.
  case version(String)
  /// `Prefer`
  case prefer([ODataPreference])
}

/// A preference that OData defines (Protocol 4.01 §8.2.8). The prefix `odata.` has no meaning and is not kept.
package enum ODataPreference: Sendable, Hashable {
  /// `allow-entityreferences`
  case allowEntityReferences
  /// `callback`, with the URL to call.
  case callback(url: String)
  /// `continue-on-error`; without a value it is true.
  case continueOnError(Bool)
  /// `include-annotations`
  case includeAnnotations([ODataAnnotationPattern])
  /// `maxpagesize`
  case maxPageSize(Int)
  /// `omit-values`: `nulls`, or `defaults`.
  case omitValues(isDefaults: Bool)
  /// `respond-async`
  case respondAsync
  /// `return=minimal`, or `return=representation`.
  case `return`(isMinimal: Bool)
  /// `track-changes`
  case trackChanges
  /// `wait`, in seconds.
  case wait(seconds: Int)
}

/// One item of `include-annotations` (Protocol 4.01 §8.2.8.4).
package struct ODataAnnotationPattern: Sendable, Hashable {
  /// Whether the annotations are excluded: `-`.
  package var isExcluded: Bool
  /// The namespace or alias; nil for `*` alone.
  package var namespace: String?
  /// The term's name; nil for `*`.
  package var term: String?
  /// The qualifier after `#`.
  package var qualifier: String?

  /// Creates a pattern.
  package init(isExcluded: Bool = false, namespace: String?, term: String?, qualifier: String? = nil) {
    self.isExcluded = isExcluded
    self.namespace = namespace
    self.term = term
    self.qualifier = qualifier
  }
}
