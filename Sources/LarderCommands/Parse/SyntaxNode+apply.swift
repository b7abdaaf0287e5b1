internal import LarderOData

// The nodes of `$apply`.
extension SyntaxNode {
  static func transformation(_ step: ODataTransformation) -> JSONNode {
    switch step {
    case .identity: node("identity")
    case .aggregate(let items): node("aggregate", ("items", list(items, aggregate)))
    case .groupBy(let elements, let sequence):
      node("groupby", ("elements", list(elements, grouping)), ("transformations", list(sequence, transformation)))
    case .concat(let sequences):
      node("concat", ("sequences", list(sequences) { .array($0.map(transformation)) }))
    case .compute(let items): node("compute", ("items", list(items, compute)))
    case .filter(let filter): node("filter", ("filter", expression(filter)))
    case .search(let search): node("search", ("search", self.search(search)))
    case .orderBy(let items): node("orderby", ("items", list(items, orderBy)))
    case .top(let count): node("top", ("count", number(count)))
    case .skip(let count): node("skip", ("count", number(count)))
    case .extremes(let kind, let number, let value):
      node(kind.rawValue, ("number", expression(number)), ("value", expression(value)))
    case .join(let path, let alias, let isOuter, let sequence):
      node(
        isOuter ? "outerjoin" : "join", ("as", .string(alias)), ("path", self.path(path)),
        ("transformations", list(sequence, transformation)))
    case .nest(let items): node("nest", ("items", list(items, nested)))
    case .addNested(let path, let items):
      node("addnested", ("path", self.path(path)), ("items", list(items, nested)))
    case .relatives(let relation, let hierarchy, let sequence, let distance, let keepsStart):
      node(
        relation.rawValue, ("distance", number(distance)), ("keepStart", keepsStart ? .boolean(true) : nil),
        ("hierarchy", self.hierarchy(hierarchy)), ("transformations", list(sequence, transformation)))
    case .traverse(let hierarchy, let isPostorder, let sequence, let order):
      node(
        "traverse", ("order", .string(isPostorder ? "postorder" : "preorder")),
        ("hierarchy", self.hierarchy(hierarchy)),
        ("transformations", list(sequence, transformation)), ("orderby", list(order, orderBy)))
    case .custom(let path): node("function", ("path", self.path(path)))
    }
  }

  private static func nested(_ item: ODataNestedSequence) -> JSONNode {
    node("item", ("as", .string(item.alias)), ("transformations", list(item.transformations, transformation)))
  }

  private static func hierarchy(_ hierarchy: ODataHierarchyReference) -> JSONNode {
    node(
      "hierarchy", ("qualifier", .string(hierarchy.qualifier)), ("nodes", path(hierarchy.nodes)),
      ("property", path(hierarchy.property)))
  }

  private static func grouping(_ element: ODataGroupingElement) -> JSONNode {
    switch element {
    case .property(let path): self.path(path)
    case .rollup(let paths): node("rollup", ("items", list(paths, path)))
    case .rollupHierarchy(let qualifier): node("rollup", ("qualifier", .string(qualifier)))
    case .rollupRecursive(let hierarchy, let sequence):
      node(
        "rolluprecursive", ("hierarchy", self.hierarchy(hierarchy)), ("transformations", list(sequence, transformation))
      )
    }
  }

  static func aggregate(_ item: ODataAggregateExpression) -> JSONNode {
    node(
      "aggregate", ("as", text(item.alias)), ("with", text(item.method)), ("expression", expression(item.expression)),
      ("from", list(item.from) { node("from", ("with", text($0.method)), ("properties", list($0.properties, path))) }))
  }
}

// The nodes of headers.
extension SyntaxNode {
  static func header(_ header: ODataHeader) -> JSONNode {
    switch header {
    case .asyncResult(let status): node("AsyncResult", ("status", number(status)))
    case .contentID(let id): node("Content-ID", ("id", .string(id)))
    case .isolation: node("OData-Isolation", ("isolation", .string("snapshot")))
    case .entityID(let id): node("OData-EntityID", ("id", .string(id)))
    case .error(let text): node("OData-Error", ("text", .string(text)))
    case .maxVersion(let major, let minor): node("OData-MaxVersion", ("version", .string("\(major).\(minor)")))
    case .version(let version): node("OData-Version", ("version", .string(version)))
    case .prefer(let preferences): node("Prefer", ("items", list(preferences, preference)))
    }
  }

  static func preference(_ preference: ODataPreference) -> JSONNode {
    switch preference {
    case .allowEntityReferences: node("allow-entityreferences")
    case .callback(let url): node("callback", ("url", .string(url)))
    case .continueOnError(let flag): node("continue-on-error", ("value", .boolean(flag)))
    case .includeAnnotations(let patterns): node("include-annotations", ("items", list(patterns, pattern)))
    case .maxPageSize(let size): node("maxpagesize", ("value", number(size)))
    case .omitValues(let isDefaults): node("omit-values", ("value", .string(isDefaults ? "defaults" : "nulls")))
    case .respondAsync: node("respond-async")
    case .return(let isMinimal): node("return", ("value", .string(isMinimal ? "minimal" : "representation")))
    case .trackChanges: node("track-changes")
    case .wait(let seconds): node("wait", ("seconds", number(seconds)))
    }
  }

  static func pattern(_ pattern: ODataAnnotationPattern) -> JSONNode {
    node(
      pattern.isExcluded ? "exclude" : "include", ("namespace", text(pattern.namespace)), ("term", text(pattern.term)),
      ("qualifier", text(pattern.qualifier)))
  }
}
