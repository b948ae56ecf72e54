<?php
// A request: it connects to the database, writes, changes and looks up messages, lists
// and searches them all, and removes what it wrote. Each statement is a transaction of
// its own; one that finds the database locked by another request waits.

const WAIT_SECONDS = 5;

function answer(PDO $db): void
{
    $author = random_int(1, PHP_INT_MAX);
    $insert = $db->prepare('INSERT INTO message (author, title, body) VALUES (?, ?, ?)');
    for ($nth = 0; $nth < 10; $nth++) {
        $insert->execute([$author, 'A new message', 'It says nothing new.']);
    }
    $update = $db->prepare('UPDATE message SET seen = seen + 1 WHERE id = ?');
    for ($nth = 0; $nth < 10; $nth++) {
        $update->execute([random_int(1, 100)]);
    }
    $select = $db->prepare('SELECT title, body, seen FROM message WHERE id = ?');
    for ($nth = 0; $nth < 10; $nth++) {
        $select->execute([random_int(1, 100)]);
        expect($select->fetchAll(), 1);
    }
    for ($nth = 0; $nth < 5; $nth++) {
        expect($db->query('SELECT * FROM message')->fetchAll(), 110);
    }
    for ($nth = 0; $nth < 5; $nth++) {
        expect($db->query("SELECT * FROM message WHERE body LIKE '%needle%'")->fetchAll(), 10);
    }
    $delete = $db->prepare('DELETE FROM message WHERE author = ?');
    $delete->execute([$author]);
    if ($delete->rowCount() != 10) {
        throw new RuntimeException("{$delete->rowCount()} rows were removed, not 10");
    }
}

// Others' messages may be there as well.
function expect(array $rows, int $at_least): void
{
    if (count($rows) < $at_least) {
        throw new RuntimeException(count($rows) . " rows, not $at_least");
    }
}

header('Content-Type: text/plain');
try {
    $options = [PDO::ATTR_TIMEOUT => WAIT_SECONDS, PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION];
    answer(new PDO('sqlite:' . getenv('PLACE') . '/app.db', null, null, $options));
    echo "ok\n";
} catch (Throwable $error) {
    http_response_code(500);
    echo $error->getMessage(), "\n";
}
