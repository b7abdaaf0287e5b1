/// Binds trees of the OData language to a model: looks every name up, determines the type of every expression, and
/// checks every option against its resource.
///
/// Creating a binder builds its look-up tables (milliseconds for a large model); binding a URL then takes microseconds.
/// A binder is immutable and can be used from many tasks at once. Trees of both dialects bind to one form, so
/// equivalent trees bind to equal results. All methods throw ``ODataBindingError``.
package struct ODataBinder: Sendable {
  /// The model.
  package let model: EdmModel
  /// The version and the limits.
  package let options: ODataBinderOptions
  let index: BindingIndex

  /// Creates a binder; without options, for the model's own version.
  package init(model: EdmModel, options: ODataBinderOptions? = nil) {
    self.model = model
    self.options = options ?? ODataBinderOptions(version: max(model.version, model.version >= .v4 ? .v401 : .v2))
    index = BindingIndex(model, defaultNamespaces: self.options.defaultNamespaces)
  }

  /// Binds a URL.
  ///
  /// - Parameters:
  ///   - url: the tree.
  ///   - text: the text that the tree was parsed from, for messages.
  package func bind(_ url: ODataURL, text: String? = nil) throws(ODataBindingError) -> ODataBoundURL {
    let binding = Binding(self, text: text, aliases: url.options.aliases)
    return try binding.bind(url)
  }

  /// Checks that the model has the names in the fragment of a context URL.
  package func check(_ fragment: ODataContextFragment, text: String? = nil) throws(ODataBindingError) {
    try Binding(self, text: text, aliases: []).check(fragment)
  }

  /// Binds query options for a resource of a type.
  ///
  /// - Parameters:
  ///   - options: the trees.
  ///   - type: the qualified name of a type, in `Collection(…)` for a collection.
  ///   - entitySet: the set or singleton of the entities.
  ///   - text: the text that the trees were parsed from, for messages.
  package func bind(
    _ options: ODataQueryOptions, on type: String, from entitySet: String? = nil, text: String? = nil
  ) throws(ODataBindingError) -> ODataBoundOptions {
    let binding = Binding(self, text: text, aliases: options.aliases)
    return try binding.bind(options, on: try binding.instance(type, from: entitySet))
  }

  /// Binds query options for an entity set or singleton.
  package func bind(
    _ options: ODataQueryOptions, onSet name: String, text: String? = nil
  ) throws(ODataBindingError) -> ODataBoundOptions {
    let binding = Binding(self, text: text, aliases: options.aliases)
    return try binding.bind(options, on: try binding.instance(set: name))
  }

  /// Binds options that were kept for entities of any type to a concrete type.
  ///
  /// `$it`, the resource that was expanded, cannot be used in them, and neither can undeclared properties of open
  /// types.
  package func bind(
    kept options: ODataQueryOptions, on type: String, from entitySet: String?, text: String?
  ) throws(ODataBindingError) -> ODataBoundOptions {
    let binding = Binding(self, text: text, aliases: options.aliases)
    let instance = try binding.instance(type, from: entitySet)
    let bound = try binding.nested(options, on: instance, .expand, at: .none)
    for segment in bound.expand.flatMap(\.path.segments) {
      guard case .dynamic(let name) = segment.kind else { continue }
      throw binding.unknownMember(name, instance, at: segment.position)
    }
    return bound
  }

  /// Binds a filter: an expression that is true or false for each instance of a type.
  package func bind(
    filter: ODataExpression, on type: String, from entitySet: String? = nil, aliases: [ODataAlias] = [],
    text: String? = nil
  ) throws(ODataBindingError) -> ODataBoundExpression {
    let binding = Binding(self, text: text, aliases: aliases)
    let instance = try binding.instance(type, from: entitySet)
    return try binding.standAlone(on: instance) { binding throws(ODataBindingError) in
      try binding.condition(filter)
    }
  }

  /// Binds an expression on the instances of a type; without a type, one that uses no instance.
  package func bind(
    _ expression: ODataExpression, on type: String? = nil, from entitySet: String? = nil,
    aliases: [ODataAlias] = [], text: String? = nil
  ) throws(ODataBindingError) -> ODataBoundExpression {
    let binding = Binding(self, text: text, aliases: aliases)
    guard let type else { return try binding.bind(expression) }
    let instance = try binding.instance(type, from: entitySet)
    return try binding.standAlone(on: instance) { binding throws(ODataBindingError) in
      try binding.bind(expression)
    }
  }
}

/// The version and the limits of a binder.
package struct ODataBinderOptions: Sendable, Hashable {
  /// The version whose rules apply.
  package var version: ODataVersion
  /// The depth to which expressions, paths, options and aliases may nest. Nested options count twice, so that a hundred
  /// of them can be bound, which is the parser's limit. A thread with a small stack allows fewer.
  package var maxDepth: Int
  /// The most nodes of a bound tree, counted after aliases are replaced by their values.
  package var maxNodes: Int
  /// Whether `Customers/ALFKI` is `Customers('ALFKI')` (4.01 §4.3.3).
  package var isKeyAsSegment: Bool
  /// The namespaces whose types and operations may be unqualified, in addition to those that the model annotates so.
  package var defaultNamespaces: [String]
  /// Whether the options of entities of any type (`Edm.EntityType`) in `$expand` are kept unbound. They can be bound
  /// later to the types that occur in the data.
  package var keepsOptionsOfAnyType = false

  /// Creates options.
  package init(
    version: ODataVersion = .v401, maxDepth: Int = 200, maxNodes: Int = 100_000, isKeyAsSegment: Bool = true,
    defaultNamespaces: [String] = []
  ) {
    self.version = version
    self.maxDepth = maxDepth
    self.maxNodes = maxNodes
    self.isKeyAsSegment = isKeyAsSegment
    self.defaultNamespaces = defaultNamespaces
  }
}
