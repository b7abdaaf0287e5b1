/// Information about a value that is not part of the value (OData JSON Format 4.01 §4.6; V2 and V3 spellings in
/// parentheses if they differ).
package enum ControlInformation: UInt8, Sendable, Hashable {
  /// `context` (V3 `odata.metadata`).
  case context
  /// `metadataEtag`
  case metadataETag
  /// `type`
  case type
  /// `count` (`__count`)
  case count
  /// `nextLink` (`__next`)
  case nextLink
  /// `deltaLink` (`__delta`)
  case deltaLink
  /// `delta`: the member's value contains changes of the navigation property.
  case delta
  /// `id`
  case id
  /// `etag`
  case etag
  /// `editLink` (`__metadata.uri`)
  case editLink
  /// `readLink` (V3 `selfLink`)
  case readLink
  /// `navigationLink` (`__deferred.uri`, V3 `navigationLinkUrl`)
  case navigationLink
  /// `associationLink` (V3 `associationuri`, `associationLinkUrl`)
  case associationLink
  /// `mediaReadLink` (`media_src`)
  case mediaReadLink
  /// `mediaEditLink` (`edit_media`)
  case mediaEditLink
  /// `mediaContentType` (`content_type`)
  case mediaContentType
  /// `mediaEtag` (`media_etag`)
  case mediaETag
  /// `bind`, in requests.
  case bind
  /// `removed`: an object, or in 4.0 payloads a member with its own context.
  case removed
  /// `null`: the whole payload is the null value.
  case null
  /// `error`, next to data or instead of it.
  case error
  /// `collectionAnnotations`
  case collectionAnnotations

  /// Creates it from the name after `@odata.`, `@` or V3's `odata.`; nil for other names.
  init?(spelling: some StringProtocol) {
    switch String(spelling) {
    case "context", "metadata": self = .context
    case "metadataEtag": self = .metadataETag
    case "type": self = .type
    case "count": self = .count
    case "nextLink": self = .nextLink
    case "deltaLink": self = .deltaLink
    case "delta": self = .delta
    case "id": self = .id
    case "etag": self = .etag
    case "editLink": self = .editLink
    case "readLink", "selfLink": self = .readLink
    case "navigationLink", "navigationLinkUrl": self = .navigationLink
    case "associationLink", "associationLinkUrl": self = .associationLink
    case "mediaReadLink": self = .mediaReadLink
    case "mediaEditLink": self = .mediaEditLink
    case "mediaContentType": self = .mediaContentType
    case "mediaEtag", "mediaETag": self = .mediaETag
    case "bind": self = .bind
    case "removed": self = .removed
    case "null": self = .null
    case "error": self = .error
    case "collectionAnnotations": self = .collectionAnnotations
    default: return nil
    }
  }

  /// Whether its presence in an object shows that the object is an entity, not a complex value.
  var marksEntity: Bool {
    switch self {
    case .id, .etag, .editLink, .readLink, .mediaReadLink, .mediaEditLink, .mediaContentType, .mediaETag, .removed,
      .context:
      true
    default: false
    }
  }
}
