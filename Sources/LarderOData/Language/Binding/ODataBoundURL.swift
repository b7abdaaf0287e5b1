/// A URL bound to a model: its resource and its query options.
package struct ODataBoundURL: Sendable, Hashable {
  /// `https://host/service/`; nil if the URL was relative to it.
  package var serviceRoot: String?
  /// The resource that the path identifies.
  package var resource: ODataBoundResource
  /// The options.
  package var options: ODataBoundOptions

  /// The type of the resource, before `$apply` and `$compute`; nil if there is none (`$metadata`, an action without a
  /// result).
  package var type: ODataBoundType? {
    switch resource {
    case .path(let path): path.type
    case .entity(let type): type.map { ODataBoundType(.structure($0)) } ?? ODataBoundType(.abstract(.entityType))
    default: nil
    }
  }

  /// The entity set or singleton of the resource's entities; nil if there is none.
  package var source: ODataBoundSource? {
    if case .path(let path) = resource { path.source } else { nil }
  }
}

/// The kinds of resources that a URL identifies.
package enum ODataBoundResource: Sendable, Hashable {
  /// The service document.
  case service
  /// `$batch`
  case batch
  /// `$metadata`, with the fragment of a context URL, unbound.
  indirect case metadata(ODataContextFragment?)
  /// `$entity`, cast to a type if one follows.
  case entity(EdmStructure?)
  /// Everything else.
  case path(ODataBoundPath)
}
