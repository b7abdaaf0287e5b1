"""The shop's entity data model.

It holds one of each thing that CSDL 4.01 offers and a client has to read: inheritance, an abstract and an open type,
complex and derived complex types, enumerations with and without flags, a type definition, containment, a singleton,
media and stream properties, bound and unbound operations with overloads, two schemas, an alias, annotations, and one
entity type with a property of every primitive type.
"""

from odatapy.edm.csdl import (
    CsdlAbstractEdmProvider, CsdlAction, CsdlActionImport, CsdlAnnotation, CsdlAnnotations, CsdlComplexType,
    CsdlEntityContainer, CsdlEntitySet, CsdlEntityType, CsdlEnumMember, CsdlEnumType, CsdlFunction,
    CsdlFunctionImport, CsdlNavigationProperty, CsdlNavigationPropertyBinding, CsdlParameter, CsdlProperty,
    CsdlPropertyRef, CsdlReferentialConstraint, CsdlReturnType, CsdlSchema, CsdlSingleton, CsdlTypeDefinition,
)

SHOP = "Larder.Shop"
BASICS = "Larder.Basics"

PRIMITIVES = [
    # name, type, facets
    ("Binary", "Edm.Binary", {"max_length": 64}),
    ("Boolean", "Edm.Boolean", {}),
    ("Byte", "Edm.Byte", {}),
    ("Date", "Edm.Date", {}),
    ("DateTimeOffset", "Edm.DateTimeOffset", {"precision": 6}),
    ("Decimal", "Edm.Decimal", {"precision": 34, "scale": 10}),
    ("Double", "Edm.Double", {}),
    ("Duration", "Edm.Duration", {"precision": 6}),
    ("Guid", "Edm.Guid", {}),
    ("Int16", "Edm.Int16", {}),
    ("Int32", "Edm.Int32", {}),
    ("Int64", "Edm.Int64", {}),
    ("SByte", "Edm.SByte", {}),
    ("Single", "Edm.Single", {}),
    ("String", "Edm.String", {"max_length": 200}),
    ("TimeOfDay", "Edm.TimeOfDay", {"precision": 6}),
    ("GeographyPoint", "Edm.GeographyPoint", {}),
    ("GeographyLineString", "Edm.GeographyLineString", {}),
    ("GeographyPolygon", "Edm.GeographyPolygon", {}),
    ("GeometryPoint", "Edm.GeometryPoint", {}),
]


def key(*names):
    return [CsdlPropertyRef(name=name) for name in names]


def prop(name, type, **facets):
    return CsdlProperty(name=name, type=type, **facets)


def product_types():
    item = CsdlEntityType(
        name="CatalogItem", abstract=True, key=key("ID"),
        properties=[prop("ID", "Edm.Int32", nullable=False), prop("Name", "Edm.String", max_length=80, nullable=False)],
    )
    product = CsdlEntityType(
        name="Product", base_type=f"{SHOP}.CatalogItem",
        properties=[
            prop("Description", "Edm.String"),
            prop("Price", f"{BASICS}.Money", nullable=False),
            prop("Stock", "Edm.Int64", nullable=False, default_value="0"),
            prop("Color", f"{SHOP}.Color"),
            prop("Labels", f"{SHOP}.Labels"),
            prop("Tags", "Edm.String", collection=True, nullable=False),
            prop("ReleasedOn", "Edm.Date"),
            prop("UpdatedAt", "Edm.DateTimeOffset", precision=3),
            prop("Rating", "Edm.Double"),
            prop("Photo", "Edm.Stream"),
        ],
        navigation_properties=[
            CsdlNavigationProperty(name="Category", type=f"{SHOP}.Category", partner="Products"),
            CsdlNavigationProperty(name="Supplier", type=f"{SHOP}.Supplier", partner="Products"),
            CsdlNavigationProperty(name="Shelves", type=f"{SHOP}.Shelf", collection=True, partner="Products"),
        ],
    )
    perishable = CsdlEntityType(
        name="Perishable", base_type=f"{SHOP}.Product",
        properties=[prop("KeepsFor", "Edm.Duration"), prop("BestBefore", "Edm.Date")],
    )
    category = CsdlEntityType(
        name="Category", key=key("ID"), open_type=True,
        properties=[prop("ID", "Edm.Int32", nullable=False), prop("Name", "Edm.String", max_length=80)],
        navigation_properties=[
            CsdlNavigationProperty(name="Products", type=f"{SHOP}.Product", collection=True, partner="Category")],
    )
    return [item, product, perishable, category]


def party_types():
    supplier = CsdlEntityType(
        name="Supplier", key=key("Country", "Number"),
        properties=[
            prop("Country", "Edm.String", max_length=2, nullable=False),
            prop("Number", "Edm.Int32", nullable=False),
            prop("Name", "Edm.String", nullable=False),
            prop("Address", f"{SHOP}.Address"),
            prop("Others", f"{SHOP}.Address", collection=True, nullable=False),
        ],
        navigation_properties=[
            CsdlNavigationProperty(name="Products", type=f"{SHOP}.Product", collection=True, partner="Supplier")],
    )
    shop = CsdlEntityType(
        name="ShopInfo", key=key("Name"),
        properties=[
            prop("Name", "Edm.String", nullable=False), prop("Address", f"{SHOP}.Address"),
            prop("OpensAt", "Edm.TimeOfDay")],
        navigation_properties=[
            CsdlNavigationProperty(name="Favourite", type=f"{SHOP}.Product")],
    )
    document = CsdlEntityType(
        name="Document", key=key("ID"), has_stream=True,
        properties=[prop("ID", "Edm.Int32", nullable=False), prop("Title", "Edm.String")],
    )
    return [supplier, shop, document]


def order_types():
    order = CsdlEntityType(
        name="Order", key=key("ID"),
        properties=[
            prop("ID", "Edm.Int32", nullable=False),
            prop("Customer", "Edm.String", max_length=40),
            prop("PlacedAt", "Edm.DateTimeOffset", precision=3),
            prop("ShipTo", f"{SHOP}.Address"),
        ],
        navigation_properties=[
            CsdlNavigationProperty(name="Items", type=f"{SHOP}.OrderItem", collection=True, contains_target=True)],
    )
    item = CsdlEntityType(
        name="OrderItem", key=key("Position"),
        properties=[
            prop("Position", "Edm.Int32", nullable=False),
            prop("ProductID", "Edm.Int32"),
            prop("Quantity", "Edm.Decimal", precision=13, scale=3, nullable=False),
            prop("Price", f"{BASICS}.Money"),
        ],
        navigation_properties=[
            CsdlNavigationProperty(
                name="Product", type=f"{SHOP}.Product",
                referential_constraints=[CsdlReferentialConstraint("ProductID", "ID")])],
    )
    everything = CsdlEntityType(
        name="AllTypes", key=key("ID"),
        properties=[prop("ID", "Edm.Int32", nullable=False)]
        + [prop(name, type, **facets) for name, type, facets in PRIMITIVES]
        + [prop("Strings", "Edm.String", collection=True), prop("Int64s", "Edm.Int64", collection=True)],
    )
    return [order, item, everything]


def shelf_types():
    """Many to many, a type that leads to itself, and every primitive type with values that are alike."""
    shelf = CsdlEntityType(
        name="Shelf", key=key("Code"),
        properties=[
            prop("Code", "Edm.Guid", nullable=False), prop("Label", "Edm.String"),
            prop("Width", "Edm.Decimal", precision=9, scale=3), prop("OpensAt", "Edm.TimeOfDay", precision=3),
            prop("Checked", "Edm.Duration", precision=3)],
        navigation_properties=[
            CsdlNavigationProperty(name="Products", type=f"{SHOP}.Product", collection=True, partner="Shelves"),
            CsdlNavigationProperty(name="Next", type=f"{SHOP}.Shelf")],
    )
    sample = CsdlEntityType(
        name="Sample", key=key("ID"),
        properties=[prop("ID", "Edm.Int32", nullable=False)]
        + [prop(name, type, **facets) for name, type, facets in PRIMITIVES if not name.startswith("Geo")]
        + [prop("Color", f"{SHOP}.Color"), prop("Place", f"{SHOP}.Address"),
           prop("Strings", "Edm.String", collection=True), prop("Int64s", "Edm.Int64", collection=True)],
    )
    return [shelf, sample]


def operations():
    # The framework reads Decimal parameters of a URL without their facets, so with scale 0: Doubles here.
    product, one = f"{SHOP}.Product", [CsdlParameter(name="product", type=f"{SHOP}.Product", nullable=False)]
    functions = [
        CsdlFunction(
            name="Cheapest", composable=True, return_type=CsdlReturnType(type=product)),
        CsdlFunction(
            name="Below", composable=True,
            parameters=[CsdlParameter(name="price", type="Edm.Double", nullable=False)],
            return_type=CsdlReturnType(type=product, collection=True)),
        CsdlFunction(
            name="HeadOffice", return_type=CsdlReturnType(type=f"{SHOP}.Address")),
        CsdlFunction(
            name="Echo", parameters=[CsdlParameter(name="text", type="Edm.String")],
            return_type=CsdlReturnType(type="Edm.String")),
        CsdlFunction(
            name="Echo", parameters=[CsdlParameter(name="number", type="Edm.Int64")],
            return_type=CsdlReturnType(type="Edm.Int64")),
        CsdlFunction(
            name="PriceIn", bound=True,
            parameters=one + [CsdlParameter(name="factor", type="Edm.Double", nullable=False)],
            return_type=CsdlReturnType(type="Edm.Decimal", scale="variable")),
        CsdlFunction(
            name="InStock", bound=True, composable=True,
            parameters=[CsdlParameter(name="products", type=product, collection=True, nullable=False)],
            return_type=CsdlReturnType(type=product, collection=True), entity_set_path="products"),
        CsdlFunction(
            name="Total", bound=True,
            parameters=[CsdlParameter(name="order", type=f"{SHOP}.Order", nullable=False)],
            return_type=CsdlReturnType(type="Edm.Decimal", scale="variable")),
    ]
    actions = [
        CsdlAction(name="EmptyShelves"),
        CsdlAction(
            name="Discontinue",
            parameters=[CsdlParameter(name="ids", type="Edm.Int32", collection=True, nullable=False)],
            return_type=CsdlReturnType(type=product, collection=True)),
        CsdlAction(
            name="Restock", bound=True,
            parameters=one + [CsdlParameter(name="amount", type="Edm.Int64", nullable=False)],
            return_type=CsdlReturnType(type=product), entity_set_path="product"),
    ]
    return functions, actions


def container():
    def bind(**targets):
        return [CsdlNavigationPropertyBinding(path=path, target=target) for path, target in targets.items()]

    return CsdlEntityContainer(
        name="Container",
        entity_sets=[
            CsdlEntitySet(
                name="Products", type=f"{SHOP}.Product",
                navigation_property_bindings=bind(Category="Categories", Supplier="Suppliers", Shelves="Shelves")),
            CsdlEntitySet(
                name="Categories", type=f"{SHOP}.Category", navigation_property_bindings=bind(Products="Products")),
            CsdlEntitySet(
                name="Suppliers", type=f"{SHOP}.Supplier", navigation_property_bindings=bind(Products="Products")),
            CsdlEntitySet(
                name="Orders", type=f"{SHOP}.Order",
                navigation_property_bindings=[CsdlNavigationPropertyBinding(path="Items/Product", target="Products")]),
            CsdlEntitySet(name="Documents", type=f"{SHOP}.Document"),
            CsdlEntitySet(name="AllTypes", type=f"{SHOP}.AllTypes"),
            CsdlEntitySet(
                name="Shelves", type=f"{SHOP}.Shelf",
                navigation_property_bindings=bind(Products="Products", Next="Shelves")),
            CsdlEntitySet(name="Samples", type=f"{SHOP}.Sample"),
        ],
        singletons=[
            CsdlSingleton(
                name="Shop", type=f"{SHOP}.ShopInfo", navigation_property_bindings=bind(Favourite="Products"))],
        function_imports=[
            CsdlFunctionImport(name="Cheapest", function=f"{SHOP}.Cheapest", entity_set="Products"),
            CsdlFunctionImport(
                name="Below", function=f"{SHOP}.Below", entity_set="Products", include_in_service_document=True),
            CsdlFunctionImport(name="HeadOffice", function=f"{SHOP}.HeadOffice"),
            CsdlFunctionImport(name="Echo", function=f"{SHOP}.Echo"),
        ],
        action_imports=[
            CsdlActionImport(name="EmptyShelves", action=f"{SHOP}.EmptyShelves"),
            CsdlActionImport(name="Discontinue", action=f"{SHOP}.Discontinue", entity_set="Products"),
        ],
    )


class ShopModel(CsdlAbstractEdmProvider):
    """Two schemas: the basics, and the shop that uses them."""

    def __init__(self):
        functions, actions = operations()
        self.schemas = [
            CsdlSchema(
                namespace=BASICS, alias="Basics",
                type_definitions=[
                    CsdlTypeDefinition(name="Money", underlying_type="Edm.Decimal", precision=15, scale=2)]),
            CsdlSchema(
                namespace=SHOP,
                entity_types=product_types() + party_types() + order_types() + shelf_types(),
                complex_types=[
                    CsdlComplexType(
                        name="Address",
                        properties=[
                            prop("Street", "Edm.String"), prop("City", "Edm.String", nullable=False),
                            prop("Location", "Edm.GeographyPoint")]),
                    CsdlComplexType(
                        name="PostalAddress", base_type=f"{SHOP}.Address",
                        properties=[prop("PostalCode", "Edm.String", max_length=12)]),
                ],
                enum_types=[
                    CsdlEnumType(
                        name="Color",
                        members=[CsdlEnumMember("Red", 1), CsdlEnumMember("Green", 2), CsdlEnumMember("Blue", 4)]),
                    CsdlEnumType(
                        name="Labels", is_flags=True, underlying_type="Edm.Int64",
                        members=[
                            CsdlEnumMember("Organic", 1), CsdlEnumMember("Local", 2), CsdlEnumMember("New", 4),
                            CsdlEnumMember("Reserved", 1 << 40)]),
                ],
                functions=functions, actions=actions, entity_container=container(),
                annotation_groups=[
                    CsdlAnnotations(
                        target=f"{SHOP}.Product/Name",
                        annotations=[CsdlAnnotation("Org.OData.Core.V1.Description", "What the label says")]),
                    CsdlAnnotations(
                        target=f"{SHOP}.Container/Products",
                        annotations=[CsdlAnnotation("Org.OData.Capabilities.V1.TopSupported", True)]),
                ],
            ),
        ]

    def get_schemas(self):
        return self.schemas
