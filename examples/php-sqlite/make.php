<?php
// Makes the database: a table of a hundred messages, one in ten about a needle.

$db = new PDO('sqlite:' . getenv('PLACE') . '/app.db');
$db->exec('CREATE TABLE message (
    id INTEGER PRIMARY KEY,
    author INTEGER NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    seen INTEGER NOT NULL DEFAULT 0
)');
$db->beginTransaction();
$insert = $db->prepare('INSERT INTO message (author, title, body) VALUES (0, ?, ?)');
for ($number = 0; $number < 100; $number++) {
    $body = $number % 10 == 0
        ? 'Pack my box with five dozen liquor jugs, said the needle in the haystack;'
        : 'The quick brown fox jumps over the lazy dog, and nobody minds at all;';
    $insert->execute(["Message $number", $body]);
}
$db->commit();
