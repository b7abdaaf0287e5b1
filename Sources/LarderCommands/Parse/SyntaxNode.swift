internal import LarderOData

/// Converts trees of the OData language to JSON: every node is an object with its `kind`.
enum SyntaxNode {
  /// Creates a node; members that are nil or empty arrays are left out.
  static func node(_ kind: String?, _ members: (String, JSONNode?)...) -> JSONNode {
    var all: [JSONNode.Member] = kind.map { [JSONNode.Member("kind", .string($0))] } ?? []
    for (name, value) in members {
      guard let value else { continue }
      if case .array(let items) = value, items.isEmpty { continue }
      all.append(JSONNode.Member(name, value))
    }
    return .object(all)
  }

  static func list<Item>(_ items: [Item], _ make: (Item) -> JSONNode) -> JSONNode { .array(items.map(make)) }

  static func text(_ text: String?) -> JSONNode? { text.map { .string($0) } }

  static func number(_ number: Int?) -> JSONNode? { number.map { .number(String($0)) } }

  /// The node of a parsed tree.
  static func tree(_ tree: ODataSyntaxTree) -> JSONNode {
    switch tree {
    case .url(let url): self.url(url)
    case .path(let path): self.path(path)
    case .arguments(let arguments): node("arguments", ("items", list(arguments, argument)))
    case .options(let options): node("options", ("options", self.options(options)))
    case .alias(let alias): self.alias(alias)
    case .custom(let option): custom(option)
    case .orderBy(let items): node("orderby", ("items", list(items, orderBy)))
    case .compute(let items): node("compute", ("items", list(items, compute)))
    case .select(let items): node("select", ("items", list(items, select)))
    case .expand(let items): node("expand", ("items", list(items, expand)))
    case .search(let search): self.search(search)
    case .apply(let sequence): node("apply", ("items", list(sequence, transformation)))
    case .aggregate(let item): aggregate(item)
    case .context(let fragment): context(fragment)
    case .expression(let expression): self.expression(expression)
    case .segment(let step): segment(step)
    case .value(let value): literal(value)
    case .enumeration(let literal): enumeration(literal)
    case .type(let type): node("type", ("name", .string(typeName(type))))
    case .text(let text): node("text", ("text", .string(text)))
    case .header(let header): self.header(header)
    case .preference(let preference): self.preference(preference)
    case .annotations(let patterns): node("annotations", ("items", list(patterns, pattern)))
    }
  }
}

// The nodes of URLs, contexts and options.
extension SyntaxNode {
  static func url(_ url: ODataURL) -> JSONNode {
    let resource: JSONNode =
      switch url.resource {
      case .service: node("service")
      case .batch: node("batch")
      case .metadata(let fragment): node("metadata", ("context", fragment.map(context)))
      case .entity(let type): node("entity", ("castTo", text(type)))
      case .path(let path): self.path(path)
      }
    return node(
      "url", ("serviceRoot", text(url.serviceRoot)), ("resource", resource),
      ("options", url.options.isEmpty ? nil : options(url.options)))
  }

  static func context(_ fragment: ODataContextFragment) -> JSONNode {
    node(
      "context", ("path", fragment.path.segments.isEmpty ? nil : path(fragment.path)),
      ("collectionOf", text(fragment.collectionOf)),
      ("selectList", fragment.selectList.map { list($0, selectListItem) }),
      ("item", text(fragment.item)))
  }

  private static func selectListItem(_ item: ODataSelectListItem) -> JSONNode {
    node(
      "item", ("path", path(item.path)), ("expanded", item.isExpanded ? .boolean(true) : nil),
      ("selectList", item.nested.map { list($0, selectListItem) }))
  }

  static func options(_ options: ODataQueryOptions) -> JSONNode {
    node(
      nil, ("apply", options.apply.map { list($0, transformation) }), ("compute", list(options.compute, compute)),
      ("filter", options.filter.map(expression)), ("search", options.search.map(search)),
      ("orderby", list(options.orderBy, orderBy)), ("select", list(options.select, select)),
      ("expand", list(options.expand, expand)), ("skip", number(options.skip)), ("top", number(options.top)),
      ("count", options.count.map { .boolean($0) }), ("levels", options.levels.map(levels)),
      ("index", number(options.index)), ("format", text(options.format)),
      ("schemaversion", text(options.schemaVersion)), ("skiptoken", text(options.skipToken)),
      ("deltatoken", text(options.deltaToken)), ("id", text(options.id)), ("aliases", list(options.aliases, alias)),
      ("custom", list(options.custom, custom)))
  }

  /// The options of an item; nil if it has none.
  private static func nested(_ options: ODataQueryOptions) -> JSONNode? {
    options.isEmpty ? nil : self.options(options)
  }

  static func levels(_ levels: ODataLevels) -> JSONNode {
    switch levels {
    case .max: .string("max")
    case .count(let count): .number(String(count))
    }
  }

  static func alias(_ alias: ODataAlias) -> JSONNode {
    node("alias", ("name", .string(alias.name)), ("value", expression(alias.value)))
  }

  static func custom(_ option: ODataCustomOption) -> JSONNode {
    node("custom", ("name", .string(option.name)), ("value", text(option.value)))
  }

  static func orderBy(_ item: ODataOrderByItem) -> JSONNode {
    node(item.isDescending ? "desc" : "asc", ("expression", expression(item.expression)))
  }

  static func compute(_ item: ODataComputeItem) -> JSONNode {
    node("compute", ("as", .string(item.alias)), ("expression", expression(item.expression)))
  }

  static func select(_ item: ODataSelectItem) -> JSONNode {
    node("item", ("path", path(item.path)), ("options", nested(item.options)))
  }

  static func expand(_ item: ODataExpandItem) -> JSONNode {
    node("item", ("path", path(item.path)), ("options", nested(item.options)))
  }

  static func search(_ search: ODataSearchExpression) -> JSONNode {
    switch search {
    case .word(let word): node("word", ("text", .string(word)))
    case .phrase(let phrase): node("phrase", ("text", .string(phrase)))
    case .not(let inner): node("not", ("operand", self.search(inner)))
    case .and(let items): node("and", ("items", list(items, self.search)))
    case .or(let items): node("or", ("items", list(items, self.search)))
    case .incomplete(let text): node("incomplete", ("text", .string(text)))
    }
  }
}
