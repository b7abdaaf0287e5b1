extension ODataQueryOptions {
  /// Whether no option is set, checked with a few comparisons.
  var isBare: Bool {
    isUntouched
      || OptionKinds(self).isEmpty && format == nil && schemaVersion == nil && skipToken == nil && deltaToken == nil
        && custom.isEmpty && aliases.isEmpty
  }
}

extension Binding {
  /// Returns the options that are allowed on a resource of a type (§5).
  func allowed(on type: ODataBoundType?) -> OptionKinds {
    guard let type else { return [] }
    let isStructured = type.item.isStructured || type.item.isOpen
    var kinds: OptionKinds = isStructured ? .structured : []
    if type.isCollection || type.item.isOpen { kinds.formUnion(.ofCollections) }
    if type.isCollection, isStructured { kinds.insert(.apply) }
    return kinds
  }

  /// Throws if an option is not allowed.
  func allow(
    _ allowed: OptionKinds, _ options: ODataQueryOptions, on place: @autoclosure () -> String,
    at position: SourcePosition
  ) throws(ODataBindingError) {
    let others = OptionKinds(options).subtracting(allowed)
    guard !others.isEmpty else { return }
    throw error(
      .misplacedOption(others.name(dialect), on: place(), reason: others.reason),
      at: others.position(in: options) ?? position)
  }
}
