<?php
// A small shop: `shop.php prepare` makes its templates and its database in the working folder,
// `shop.php` takes twenty orders. Each reads two templates, changes the database in one
// transaction, replaces a cached page, and adds a line to a log.

const ORDERS = 20;
const PRODUCTS = 200;

function database(): PDO
{
    return new PDO('sqlite:shop.db', options: [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
}

function prepare(): void
{
    mkdir('templates');
    mkdir('pages');
    mkdir('log');
    file_put_contents('templates/head.html', str_repeat("<p>A head with many words.</p>\n", 60));
    file_put_contents('templates/product.html', str_repeat("<p>{name}: {stock} left</p>\n", 250));
    $db = database();
    $db->exec('CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, stock INTEGER)');
    $db->exec('CREATE TABLE orders (id INTEGER PRIMARY KEY, product INTEGER, address TEXT)');
    $db->beginTransaction();
    $insert = $db->prepare('INSERT INTO products (name, stock) VALUES (?, 1000)');
    for ($n = 1; $n <= PRODUCTS; $n++) {
        $insert->execute(["Product $n"]);
    }
    $db->commit();
}

function order(PDO $db, int $number): void
{
    $product = $number * 37 % PRODUCTS + 1;
    $db->beginTransaction();
    $db->prepare('UPDATE products SET stock = stock - 1 WHERE id = ?')->execute([$product]);
    $db->prepare('INSERT INTO orders (product, address) VALUES (?, ?)')
        ->execute([$product, str_repeat("Street $number, ", 5)]);
    $db->commit();
    $found = $db->query("SELECT name, stock FROM products WHERE id = $product")->fetch();

    $text = file_get_contents('templates/head.html') . file_get_contents('templates/product.html');
    $page = strtr($text, ['{name}' => $found['name'], '{stock}' => (string) $found['stock']]);
    file_put_contents("pages/$product.html.new", $page);
    rename("pages/$product.html.new", "pages/$product.html");

    $line = sprintf("%05d product %d, %d left\n", $number, $product, $found['stock']);
    file_put_contents('log/orders.log', $line, FILE_APPEND | LOCK_EX);
}

if (($argv[1] ?? '') === 'prepare') {
    prepare();
} else {
    $db = database();
    for ($number = 0; $number < ORDERS; $number++) {
        order($db, $number);
    }
}
